#!/usr/bin/env bash
# External processors: 6,000 and 10,000 seeds of failures, each function of the driver at each call, the model of a submission's end.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci device_tests vulkan_tests retire_model
ctest --preset ci -R '^DeviceSeeds\.' -V "${long[@]}"
ctest --preset ci -R 'DeviceVulkan' -V "${long[@]}"
ctest --preset ci -R '^model\.retire$' "${long[@]}"
