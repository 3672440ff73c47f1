#!/usr/bin/env bash
# Models, with 20 times as many schedules.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci
ctest --preset ci -L '^model$' -j "$(nproc)" "${long[@]}"
