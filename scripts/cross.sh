#!/usr/bin/env bash
# Builds Braid for another machine, runs unit tests and samples in its emulator:
#   scripts/cross.sh arm64   [ARGUMENTS of ctest]   by Debian's cross compiler, under qemu-user
#   scripts/cross.sh windows [ARGUMENTS of ctest]   by MinGW-w64, under Wine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-}
case $preset in
    --help)
        sed -n '2,4{s/^# \{0,1\}//;p}' "$0"
        exit 0
        ;;
    arm64 | windows) shift ;;
    *)
        echo "cross.sh: the machine is arm64 or windows, not '$preset'; scripts/cross.sh --help." >&2
        exit 2
        ;;
esac
source scripts/build.sh
scripts/setup.sh build test "$preset"
build_preset "$preset" unit_tests samples
if [[ $preset == windows ]]; then
    # Wine makes its folder once, before two programs want it at the same time.
    export WINEPREFIX=$PWD/out/wine WINEDEBUG=-all
    PATH=$PATH:/usr/lib/wine wine64 cmd /c exit
fi
ctest --preset "$preset" -j "$(nproc)" "$@"
