#!/usr/bin/env bash
# Unit tests at 0, 1, 2, 4, 8 and 64 workers.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci unit_tests
ctest --preset ci-nightly -L '^unit$' -j "$(nproc)" "${long[@]}"
