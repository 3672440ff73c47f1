#!/usr/bin/env bash
# Modules that a linker has not finished yet are refused, whenever they are looked at; 200 reloads of the arena.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci
ctest --preset ci -L '^links$' "${long[@]}"
# 2,000 prefixes of the arena's module, and more moments of more links.
run_tests out/build/ci/bin/demo_reload_tests 'ArenaDamage.*:Linkers/ArenaLinks.*:ArenaReload.ManyReloads*'
