# Sourced by the parts: what several of them need. BRAID_NIGHTLY_SCALE says how many times as long as in a
# usual run a part takes.

source scripts/build.sh
scale=${BRAID_NIGHTLY_SCALE:-20}
export BRAID_STRESS_SCALE=$scale BRAID_MODEL_SCALE=$scale
# A round takes some milliseconds, so that at the usual scale each mode has 1,000.
export BRAID_ATTACK_ROUNDS=$((scale * 50))

# The limit of CTest is for the usual length.
long=(--timeout $((1200 + scale * 240)) --no-tests=error)

# By name, beyond the limits of CTest. A name that is nobody's fails.
run_tests() { # PROGRAM FILTER ARGUMENT...
    local program=$1 filter=$2
    shift 2
    if ! "$program" --gtest_list_tests --gtest_filter="$filter" | grep -q '^  '; then
        echo "$program has no test '$filter'." >&2
        return 1
    fi
    "$program" --gtest_filter="$filter" "$@"
}

# 1,000 reloads of a module that everybody holds, at each worker count; a run has 50, or 5 in a sanitizer.
reloads() { # PRESET WORKERS RUNS
    BRAID_TEST_WORKERS=$2 run_tests "out/build/$1/bin/reload_tests" '*ReloadsUnderLoadLoseNothing*' \
        --gtest_brief=1 --gtest_repeat="$3"
}

# Unit tests and stress tests under a sanitizer, at more worker counts than those that land.
sanitized() { # PRESET
    build_preset "$1" "$1_tests" stress_tests
    ctest --preset "$1-nightly" -L "^(unit|$1)$" -j "$(nproc)" "${long[@]}"
    ctest --preset "$1-nightly" -L '^stress$' "${long[@]}"
    reloads "$1" 0,2,8 $((scale * 10))
}
