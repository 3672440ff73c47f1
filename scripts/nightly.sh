#!/usr/bin/env bash
# Long campaigns: scripts/nightly.sh [SCALE]. Stress tests and models SCALE times as long (20),
# the stress tests again under both sanitizers, clang-tidy, a second compiler, arm64, broken captures
# and modules, planted causes, no policy at all, no reloading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scale=${1:-20}
if ! [[ $scale =~ ^[1-9][0-9]*$ ]]; then
    echo "nightly.sh: the scale is a whole number from 1, not '$scale'." >&2
    exit 2
fi

source scripts/build.sh
scripts/setup.sh build test demo bench lint
export BRAID_STRESS_SCALE=$scale BRAID_MODEL_SCALE=$scale
# A round takes some milliseconds, so that at the usual scale each mode has 1,000.
export BRAID_ATTACK_ROUNDS=$((scale * 50))

for preset in ci asan tsan; do
    build_preset "$preset"
    # The limits of CTest are for the usual length.
    ctest --preset "$preset" -L '^(stress|model)$' --timeout $((scale * 120)) --no-tests=ignore
done
# The library does without each of its policies.
mapfile -t without < <(sed -n 's/^braid_policy(\([a-z_]*\) .*/-DBRAID_POLICY_\U\1=OFF/p' cmake/braid_policies.cmake)
cmake --preset ci -B out/build/without_policies "${without[@]}" >/dev/null
cmake --build out/build/without_policies --target unit_tests >/dev/null
ctest --test-dir out/build/without_policies -L '^unit$' -j "$(nproc)"
# So does the arena without reloading: its game is a part of it then.
cmake --preset ci -B out/build/without_reload -DBRAID_WITH_RELOAD=OFF >/dev/null
cmake --build out/build/without_reload --target arena demo_tests demo_host_tests >/dev/null
ctest --test-dir out/build/without_reload -R '^demo\.(one_hash|nothing_to_load)$|^Overlay' --no-tests=error
# 1,000 reloads of a module that everybody holds, at each worker count; a run has 50, or 5.
for preset in ci asan tsan; do
    workers=0,1,2,4,8,64 runs=$scale
    [[ $preset == ci ]] || workers=0,2,8 runs=$((scale * 10))
    BRAID_TEST_WORKERS=$workers "out/build/$preset/bin/reload_tests" --gtest_brief=1 \
        --gtest_filter='*ReloadsUnderLoadLoseNothing*' --gtest_repeat="$runs" >/dev/null
done
# 2,000 prefixes of the arena's module, and more moments of more links.
ctest --preset ci -R '^(ArenaDamage\.|Linkers/ArenaLinks\.|ArenaReload\.ManyReloads)' --timeout $((scale * 120))
scripts/fuzz.sh $((scale * 60))
python3 tests/tools/planted/planted_test.py out/build/ci/bin/planted out/build/ci/bin/braid
# Pairs that go wrong stay among those that run each time.
BRAID_KEEP_PAIRS=tests/reload/random/kept \
    python3 tests/reload/random/random_pairs.py out/build/ci/bin/reload_random include "$(date +%j)" \
    $((scale * 25)) g++ clang++-19
scripts/tidy.sh
build_preset clang
ctest --preset clang -L '^(unit|sample)$'
scripts/arm64.sh
