#!/usr/bin/env bash
# Both commands of the README in a minimal Debian.
set -euo pipefail
source scripts/nightly/common.sh

[[ $(id -u) == 0 ]] || { echo "fresh: only root can make and enter a minimal Debian." >&2; exit 1; }
scripts/setup.sh nightly
folder=$(mktemp -d)
leave() {
    umount "$folder/proc" "$folder/dev" 2>/dev/null || true
    # Nothing of the machine's own may be below it when it goes.
    if ! mountpoint -q "$folder/proc" && ! mountpoint -q "$folder/dev"; then rm -rf "$folder"; fi
}
trap leave EXIT
# Either kind of list may be absent.
mirror=$( (cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true) |
    awk '$1 == "deb" { for (i = 2; i <= NF; ++i) if ($i ~ /^(http|https|file|copy):/) { if (!found) print $i; found = 1 } }
         $1 == "URIs:" { if (!found) print $2; found = 1 }')
debootstrap --variant=minbase bookworm "$folder" ${mirror:+"$mirror"}
# As this machine fetches its packages.
cp -r /etc/apt/apt.conf.d /etc/apt/sources.list* "$folder/etc/apt/" 2>/dev/null || true
mount --bind /proc "$folder/proc"
mount --bind /dev "$folder/dev"
git clone --quiet . "$folder/braid"
rm -rf "$folder/braid/.git"  # as a tarball has none
chroot "$folder" /braid/demo.sh --headless --frames 10
chroot "$folder" /braid/test.sh
