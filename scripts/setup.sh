#!/usr/bin/env bash
# Installs what is missing from Debian's packages: scripts/setup.sh [GROUP...]
# Groups are those of packages.txt; without any: build test demo bench. Does nothing when all is there.
set -euo pipefail

list=$(dirname "${BASH_SOURCE[0]}")/packages.txt
groups=(build test demo bench)

if [[ ${1:-} == --help ]]; then
    sed -n '2,3s/^# //p' "$0"
    exit 0
fi
[[ $# -gt 0 ]] && groups=("$@")

for group in "${groups[@]}"; do
    if ! grep -q "^$group " "$list"; then
        echo "setup.sh: no group '$group' in $list; there are: $(awk '!/^#/ {print $1}' "$list" | sort -u | xargs)." >&2
        exit 2
    fi
done

if [[ ${BRAID_SKIP_SETUP:-} == 1 ]]; then
    exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup.sh: this is no Debian-like machine: install the packages of $list by other means," \
        "then set BRAID_SKIP_SETUP=1." >&2
    exit 2
fi

wanted=$(awk -v groups=" ${groups[*]} " '!/^#/ && index(groups, " " $1 " ") {print $2}' "$list" | sort -u |
    while read -r package; do
        # Programs that people often have from elsewhere are left alone.
        if [[ $package != *:* ]] || ! command -v "${package%%:*}" >/dev/null; then
            echo "${package##*:}"
        fi
    done)
if [[ -z $wanted ]]; then
    exit 0
fi
# shellcheck disable=SC2086
present=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | awk '$2 == "installed" {print $1}' | sort -u || true)
missing=$(comm -23 <(echo "$wanted") <(echo "$present") | xargs)
if [[ -z $missing ]]; then
    exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "setup.sh: not root and no sudo here; as root, run: apt-get install --no-install-recommends $missing" >&2
        exit 2
    fi
    as_root=(sudo)
fi

echo "Installing from Debian's packages: $missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1
}
# shellcheck disable=SC2086
if ! { install update -q && install install -q -y --no-install-recommends $missing; }; then
    tail -n 15 "$log" >&2
    echo "setup.sh: apt-get could not install them (its last lines are above)." >&2
    exit 1
fi
