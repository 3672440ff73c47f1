#!/usr/bin/env bash
# The library, its tests and samples with the second compiler.
set -euo pipefail
source scripts/nightly/common.sh

build_preset clang
ctest --preset clang -L '^(unit|sample)$' -j "$(nproc)"
