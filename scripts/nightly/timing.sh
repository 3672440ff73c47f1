#!/usr/bin/env bash
# Tests whose right outcome depends on when a thread gets a core: one at a time, each right in three of five tries.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=out/build/ci/Testing/Temporary/LastTestsFailed.log
for try in 1 2 3 4 5; do
    rm -f "$failed"
    ctest --preset ci-nightly -L '^timing$' --no-tests=error --quiet --output-log "$folder/$try" || true
    cat "$folder/$try"
    if [[ -f $failed ]]; then cut -d: -f2- "$failed" >>"$folder/failed"; fi
done
wrong=$(sort "$folder/failed" 2>/dev/null | uniq -c | awk '$1 > 2' || true)
if [[ -n $wrong ]]; then
    printf 'Wrong in three or more of five tries:\n%s\n' "$wrong"
    exit 1
fi
