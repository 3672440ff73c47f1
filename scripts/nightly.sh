#!/usr/bin/env bash
# Long campaigns: scripts/nightly.sh [SCALE] [STAGE...]. SCALE (20) says how many times as long as in
# a usual run; without names all stages below are run, in this order. A stage that fails ends no
# other: at the end they are listed, with what each printed in out/nightly/STAGE.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scale=20
if [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
    scale=$1
    shift
elif [[ ${1:-} =~ ^[-0-9] ]]; then
    echo "nightly.sh: the scale is a whole number from 1, not '$1'." >&2
    exit 2
fi

source scripts/build.sh
export BRAID_STRESS_SCALE=$scale BRAID_MODEL_SCALE=$scale
# A round takes some milliseconds, so that at the usual scale each mode has 1,000.
export BRAID_ATTACK_ROUNDS=$((scale * 50))

# The limits of CTest are for the usual length.
long=(--timeout $((scale * 240)) --no-tests=error)

# By name, beyond the limits of CTest, which are for the usual length. A name that is nobody's fails.
run_tests() { # PROGRAM FILTER ARGUMENT...
    local program=$1 filter=$2
    shift 2
    if ! "$program" --gtest_list_tests --gtest_filter="$filter" | grep -q '^  '; then
        echo "$program has no test '$filter'." >&2
        return 1
    fi
    "$program" --gtest_filter="$filter" "$@"
}

# 1,000 reloads of a module that everybody holds, at each worker count; a run has 50, or 5.
reloads() { # PRESET WORKERS RUNS
    build_preset "$1" reload_tests
    BRAID_TEST_WORKERS=$2 run_tests "out/build/$1/bin/reload_tests" '*ReloadsUnderLoadLoseNothing*' \
        --gtest_brief=1 --gtest_repeat="$3"
}
reloads_ci() { reloads ci 0,1,2,4,8,64 "$scale"; }
reloads_asan() { reloads asan 0,2,8 $((scale * 10)); }
reloads_tsan() { reloads tsan 0,2,8 $((scale * 10)); }

# Pairs that go wrong stay among those that run each time.
pairs() {
    build_preset ci reload_random
    BRAID_KEEP_PAIRS=tests/reload/random/kept \
        python3 tests/reload/random/random_pairs.py out/build/ci/bin/reload_random include \
        "$(date +%j)" $((scale * 25)) g++ clang++-19
}

# 2,000 prefixes of the arena's module, more moments of more links, 200 reloads of the arena.
damage() {
    build_preset ci demo_reload_tests
    run_tests out/build/ci/bin/demo_reload_tests 'ArenaDamage.*:Linkers/ArenaLinks.*:ArenaReload.ManyReloads*'
}

stress() { # PRESET TARGET...
    build_preset "$@"
    ctest --preset "$1" -L '^(stress|model)$' "${long[@]}"
}
stress_ci() { stress ci; }
# Only what is run, where there are sanitizers.
stress_asan() { stress asan stress_tests; }
stress_tsan() { stress tsan stress_tests; }

# More seeds than the usual 1,000, each twice.
async_seeds() {
    build_preset ci async_tests
    BRAID_ASYNC_SEEDS=$((scale * 1000)) ctest --preset ci -R '^AsyncSeed\.' "${long[@]}"
}

# The library does without each of its policies.
without_policies() {
    local without
    mapfile -t without < <(sed -n 's/^braid_policy(\([a-z_]*\) .*/-DBRAID_POLICY_\U\1=OFF/p' \
        cmake/braid_policies.cmake)
    cmake --preset ci -B out/build/without_policies "${without[@]}" >/dev/null
    cmake --build out/build/without_policies --target unit_tests
    # Not what the model is measured against: that runs alone, with the usual library.
    ctest --test-dir out/build/without_policies -L '^unit$' -E '^WhatIfMeasured\.' -j "$(nproc)"
}

# So does the arena without reloading: its game is a part of it then.
without_reload() {
    cmake --preset ci -B out/build/without_reload -DBRAID_WITH_RELOAD=OFF >/dev/null
    cmake --build out/build/without_reload --target arena demo_tests demo_host_tests
    ctest --test-dir out/build/without_reload -R '^demo\.(one_hash|nothing_to_load)$|^Overlay' \
        --no-tests=error
}

fuzz() { scripts/fuzz.sh $((scale * 60)); }

# Causes that were planted in programs are found in their captures.
planted() {
    build_preset ci
    python3 tests/tools/planted/planted_test.py out/build/ci/bin/planted out/build/ci/bin/braid
}

tidy() { scripts/tidy.sh; }

second_compiler() {
    build_preset clang
    ctest --preset clang -L '^(unit|sample)$'
}

arm64() { scripts/arm64.sh; }

stages=(reloads_ci reloads_asan reloads_tsan pairs damage stress_ci stress_asan stress_tsan async_seeds
    without_policies without_reload fuzz planted tidy second_compiler arm64)
for name in "$@"; do
    if [[ " ${stages[*]} " != *" $name "* ]]; then
        echo "nightly.sh: there is no stage '$name'; the stages are ${stages[*]}." >&2
        exit 2
    fi
done
[[ $# -gt 0 ]] && stages=("$@")

scripts/setup.sh build test demo bench lint vulkan
mkdir -p out/nightly
failed=()
for name in "${stages[@]}"; do
    start=$SECONDS
    set +e
    (
        set -e
        "$name"
    ) >"out/nightly/$name.log" 2>&1
    code=$?
    set -e
    if ((code == 0)); then
        echo "$name passed in $((SECONDS - start)) s."
    else
        echo "$name failed in $((SECONDS - start)) s: out/nightly/$name.log."
        failed+=("$name")
    fi
done
if ((${#failed[@]})); then
    echo "nightly.sh: ${#failed[@]} of ${#stages[@]} stages failed: ${failed[*]}." >&2
    exit 1
fi
echo "All ${#stages[@]} stages passed."
