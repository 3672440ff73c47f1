#!/usr/bin/env bash
# What takes its time is no hang: ten scenes 1,000 times each, looked at every millisecond, beside a busy process on each core.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci core_tests async_tests
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for ((i = 0; i < $(nproc); ++i)); do
    (while :; do :; done) &
    busy+=($!)
done
BRAID_TEST_WORKERS=0,1,2,4,8,64 run_tests out/build/ci/bin/core_tests '*LongSilence*' --gtest_brief=1
BRAID_TEST_WORKERS=0,1,2,4,8 run_tests out/build/ci/bin/core_tests '*OfRandomWaits*' --gtest_brief=1
BRAID_TEST_WORKERS=0,1,2,4,8 run_tests out/build/ci/bin/async_tests '*RandomHangs*' --gtest_brief=1
