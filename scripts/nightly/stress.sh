#!/usr/bin/env bash
# Stress tests, 20 times as long; 4,000 seeds of small programs, 20,000 of asynchronous programs; 1,000 reloads; random pairs of layouts.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci stress_tests core_tests async_tests reload_tests reload_random
ctest --preset ci-nightly -L '^stress$' "${long[@]}"
ctest --preset ci -R '^Workers/Chooser\.' "${long[@]}"
BRAID_ASYNC_SEEDS=$((scale * 1000)) ctest --preset ci -R '^AsyncSeed\.' "${long[@]}"
reloads ci 0,1,2,4,8,64 "$scale"
# Pairs that go wrong stay among those that run each time.
BRAID_KEEP_PAIRS=tests/reload/random/kept \
    python3 tests/reload/random/random_pairs.py out/build/ci/bin/reload_random include out/nightly/random \
    "$(date +%j)" $((scale * 25)) g++ clang++-19
