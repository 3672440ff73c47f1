#!/usr/bin/env bash
# Both commands of the README in a minimal Debian.
set -euo pipefail
source scripts/nightly/common.sh

[[ $(id -u) == 0 ]] || { echo "fresh: only root can make and enter a minimal Debian." >&2; exit 1; }
scripts/setup.sh nightly
folder=$(mktemp -d)
# The tree lies where .ci/run has it, and what ccache has compiled there is lent. A result of ccache
# counts only for the same compiler and the same headers, so a package that is missing is still missed.
place=${XDG_CACHE_HOME:-~/.cache}/braid/ci
cache=$(ccache --get-config cache_dir)
mounts=(/proc /dev "$cache")
leave() {
    local path
    for path in "${mounts[@]}"; do
        umount "$folder$path" 2>/dev/null || true
        # Nothing of the machine's own may be below it when it goes.
        if mountpoint -q "$folder$path"; then return; fi
    done
    rm -rf "$folder"
}
trap leave EXIT
# Either kind of list may be absent.
mirror=$( (cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true) |
    awk '$1 == "deb" { for (i = 2; i <= NF; ++i) if ($i ~ /^(http|https|file|copy):/) { if (!found) print $i; found = 1 } }
         $1 == "URIs:" { if (!found) print $2; found = 1 }')
debootstrap --variant=minbase bookworm "$folder" ${mirror:+"$mirror"}
# As this machine fetches its packages.
if [[ -n $(find /etc/apt/sources.list* -type f) ]]; then rm -f "$folder/etc/apt/sources.list"; fi
cp -r /etc/apt/apt.conf.d /etc/apt/sources.list* "$folder/etc/apt/" 2>/dev/null || true
# debootstrap leaves out what every installed system has: the name of the loopback.
echo "127.0.0.1 localhost" >"$folder/etc/hosts"
# npm trusts what this machine trusts. The file has a place of its own, because Debian makes its own anew.
if [[ -f ${NODE_EXTRA_CA_CERTS:-} ]]; then
    cp "$NODE_EXTRA_CA_CERTS" "$folder/certificates"
    export NODE_EXTRA_CA_CERTS=/certificates
fi
for path in "${mounts[@]}"; do
    mkdir -p "$path" "$folder$path"
    mount --bind "$path" "$folder$path"
done
git clone --quiet . "$folder$place"
rm -rf "$folder$place/.git"  # as a tarball has none
unset BRAID_STRESS_SCALE BRAID_MODEL_SCALE BRAID_ATTACK_ROUNDS  # the usual run, not the night's
export CCACHE_MAXSIZE=10G CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
chroot "$folder" "$place/demo.sh" --headless --frames 10
chroot "$folder" "$place/test.sh"
