#!/usr/bin/env bash
# Runs the cases of GoogleTest whose name matches: scripts/run_cases.sh REGEX [BUILD]
# Names are whole, as in 'Workers/Scope.TwoInOneBlockAreTwo/2'; BUILD is a folder, out/build/ci without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

regex=${1:?a regular expression} build=${2:-out/build/ci}
found=0 code=0
for program in "$build"/bin/*_tests; do
    # A suite stands at the begin of a line, its cases behind it with two spaces; a comment may follow.
    cases=$("$program" --gtest_list_tests |
        awk '/^[^ ]/ {suite = $1} /^  / {print suite $1}' | grep -E -- "$regex" | paste -sd: || true)
    [[ -n $cases ]] || continue
    found=1
    "$program" --gtest_brief=1 --gtest_filter="$cases" || code=$?
done
if [[ $found == 0 ]]; then
    echo "No test's name matches '$regex'." >&2
    exit 2
fi
exit "$code"
