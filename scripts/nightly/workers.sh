#!/usr/bin/env bash
# Unit tests at 0, 1, 2, 4, 8 and 64 workers.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci unit_tests
# Part `silence` has the scenes that wait for real time.
ctest --preset ci-nightly -L '^unit$' -E '^Workers/LongSilence\.' -j "$(nproc)" "${long[@]}"
