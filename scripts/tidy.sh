#!/usr/bin/env bash
# Runs clang-tidy over the library, or over the files given: scripts/tidy.sh [FILE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/build.sh
scripts/setup.sh build lint
build_preset clang braid
files=("$@")
[[ $# -gt 0 ]] || mapfile -t files < <(find src -name '*.cpp' | grep -v /windows/ | sort)
printf '%s\n' "${files[@]}" |
    xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p out/build/clang
