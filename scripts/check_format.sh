#!/usr/bin/env bash
# Says which C++ files clang-format would lay out otherwise; with --fix it does so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run --Werror)
case ${1:-} in
    "") ;;
    --fix) mode=(-i) ;;
    *)
        echo "check_format.sh: unknown argument '$1'; there is only --fix." >&2
        exit 2
        ;;
esac

mapfile -t files < <(find include src tests samples demo tools bench -type f 2>/dev/null \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' \) | sort)
clang-format-19 --dump-config >/dev/null
# To start it takes longer than to read a file.
mapfile -t wrong < <(printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 50 \
    clang-format-19 "${mode[@]}" 2>&1 | sed -n 's/^\([^: ]*\):.*error: .*/\1/p' | sort -u)
if [[ ${#wrong[@]} -gt 0 ]]; then
    printf '%s\n' "${wrong[@]}"
    echo "${#wrong[@]} of ${#files[@]} files need scripts/check_format.sh --fix ($(clang-format-19 --version))."
    exit 1
fi
echo "${#files[@]} files are laid out by .clang-format."
