#!/usr/bin/env bash
# Builds Braid for arm64, runs unit tests and samples under qemu-user: scripts/arm64.sh [ARGUMENTS of ctest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --help ]]; then
    sed -n '2s/^# //p' "$0"
    exit 0
fi
source scripts/build.sh
scripts/setup.sh build test arm64
build_preset arm64
ctest --preset arm64 -j "$(nproc)" "$@"
