#!/usr/bin/env bash
# Builds Braid for Windows by MinGW-w64, runs unit tests and samples under Wine: scripts/windows.sh [ARGUMENTS of ctest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --help ]]; then
    sed -n '2s/^# //p' "$0"
    exit 0
fi
source scripts/build.sh
scripts/setup.sh build test windows
build_preset windows unit_tests samples
# Wine makes its folder once, before two programs want it at the same time.
export WINEPREFIX=$PWD/out/wine WINEDEBUG=-all
PATH=$PATH:/usr/lib/wine wine64 cmd /c exit
ctest --preset windows -j "$(nproc)" "$@"
