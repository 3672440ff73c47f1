#!/usr/bin/env bash
# Runs clang-tidy over the library, or over the files given: scripts/tidy.sh [FILE...]
# With --functions only the checks of scripts/functions.clang-tidy, in the folders that keep to them,
# or over the files given: scripts/tidy.sh --functions [FILE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The folders of HeaderFilterRegex in functions.clang-tidy.
folders=(src/core src/graph src/job_list src/frame src/queue)

source scripts/build.sh
scripts/setup.sh build lint

# tidy OPTION... -- FILE...
tidy() {
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p out/build/clang "${options[@]}"
}

check_functions() {
    local files=("$@")
    [[ $# -gt 0 ]] || mapfile -t files < <(find "${folders[@]}" -name '*.cpp' | sort)
    tidy --config-file=scripts/functions.clang-tidy -- "${files[@]}"
}

if [[ ${1:-} == --functions ]]; then
    shift
    # Headers that the build makes are not needed for these.
    [[ -f out/build/clang/compile_commands.json ]] || cmake --preset clang >/dev/null
    check_functions "$@"
    exit
fi
build_preset clang braid
files=("$@")
[[ $# -gt 0 ]] || mapfile -t files < <(find src -name '*.cpp' | grep -v /windows/ | sort)
tidy -- "${files[@]}"
[[ $# -gt 0 ]] || check_functions
