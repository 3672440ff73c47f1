#!/usr/bin/env bash
# Long campaigns, other compilers, and the tests that need a quiet machine: what .ci/run leaves out.
#
#   scripts/nightly.sh                  all parts: the files of scripts/nightly
#   scripts/nightly.sh --part NAME ...  only that part, or those
#   scripts/nightly.sh --scale N ...    campaigns N times as long as in a usual run (20)
#   scripts/nightly.sh --list           what the parts are
#
# A part that fails ends no other: at the end they are listed, with what each printed in
# out/nightly/NAME.log. docs/design/nightly.md has a row a part: its last run, and its last green one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t all < <(find scripts/nightly -name '*.sh' ! -name common.sh -printf '%f\n' | sed 's/\.sh$//' | sort)
parts=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --help | -h)
            sed -n '2,10{s/^# \{0,1\}//;p}' "$0"
            exit 0
            ;;
        --list)
            for name in "${all[@]}"; do printf '%-10s %s\n' "$name" "$(sed -n '2s/^# //p' "scripts/nightly/$name.sh")"; done
            exit 0
            ;;
        --scale)
            if ! [[ ${2:-} =~ ^[1-9][0-9]*$ ]]; then
                echo "nightly.sh: the scale is a whole number from 1, not '${2:-}'." >&2
                exit 2
            fi
            export BRAID_NIGHTLY_SCALE=$2
            shift
            ;;
        --part)
            if [[ -z ${2:-} || ! -f scripts/nightly/${2:-}.sh || $2 == common ]]; then
                echo "nightly.sh: there is no part '${2:-}'; the parts are ${all[*]}." >&2
                exit 2
            fi
            parts+=("$2")
            shift
            ;;
        *)
            echo "nightly.sh: unknown argument '$1'; scripts/nightly.sh --help lists what there is." >&2
            exit 2
            ;;
    esac
    shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=("${all[@]}")

scripts/setup.sh build test demo bench lint vulkan
mkdir -p out/nightly
failed=()
for name in "${parts[@]}"; do
    start=$SECONDS result=green
    if ! "scripts/nightly/$name.sh" >"out/nightly/$name.log" 2>&1 </dev/null; then
        result=red
        failed+=("$name")
    fi
    echo "$name is $result after $((SECONDS - start)) s: out/nightly/$name.log."
    python3 scripts/nightly_table.py "$name" "$result" $((SECONDS - start))
done
if ((${#failed[@]})); then
    echo "nightly.sh: ${#failed[@]} of ${#parts[@]} parts failed: ${failed[*]}." >&2
    exit 1
fi
echo "All ${#parts[@]} parts are green."
