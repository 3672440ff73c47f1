#!/usr/bin/env bash
# What is shipped: -O3, no assertions, all worker counts; tests without the header that is compiled once for all.
set -euo pipefail
source scripts/nightly/common.sh

cmake --preset release -B out/build/nightly_release -DBRAID_WERROR=ON \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build out/build/nightly_release
ctest --test-dir out/build/nightly_release -j "$(nproc)" "${long[@]}" \
    -LE '^(timing|links|browser|viewer|install|source|docs)$'
