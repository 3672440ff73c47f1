#!/usr/bin/env bash
# The library without each of its policies, and the arena without reloading.
set -euo pipefail
source scripts/nightly/common.sh

mapfile -t without < <(sed -n 's/^braid_policy(\([a-z_]*\) .*/-DBRAID_POLICY_\U\1=OFF/p' cmake/braid_policies.cmake)
cmake --preset ci -B out/build/without_policies "${without[@]}" >/dev/null
cmake --build out/build/without_policies --target unit_tests
ctest --test-dir out/build/without_policies -L '^unit$' -j "$(nproc)" "${long[@]}"
# The game is a part of the arena then.
cmake --preset ci -B out/build/without_reload -DBRAID_WITH_RELOAD=OFF >/dev/null
cmake --build out/build/without_reload --target arena demo_tests demo_host_tests
ctest --test-dir out/build/without_reload -R '^demo\.(one_hash|nothing_to_load)$|^Overlay' "${long[@]}"
