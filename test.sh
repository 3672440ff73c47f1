#!/usr/bin/env bash
# Builds Braid and runs its tests.
#
#   ./test.sh                   set up this machine, build preset ci, run what must pass before a change lands
#   ./test.sh --quick           build, then only unit tests, samples and source checks (the inner loop)
#   ./test.sh --filter REGEX    only tests whose name matches, whatever their label: suites, or else cases
#   ./test.sh -- ARGUMENTS      pass the rest on to ctest
#
# What depends on when a thread gets a core, samples real links or drives a browser (tests/labels.txt) is left
# to scripts/nightly.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

quick=0
filter=
select=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --help | -h)
            sed -n '2,10{s/^# \{0,1\}//;p}' "$0"
            exit 0
            ;;
        --quick) quick=1 ;;
        --filter)
            if [[ $# -lt 2 ]]; then
                echo "test.sh: --filter wants a regular expression." >&2
                exit 2
            fi
            filter=$2
            select+=(-R "$2")
            shift
            ;;
        --)
            shift
            select+=("$@")
            break
            ;;
        *)
            echo "test.sh: unknown argument '$1'; ./test.sh --help lists what there is." >&2
            exit 2
            ;;
    esac
    shift
done

source scripts/build.sh
[[ $quick == 1 ]] || scripts/setup.sh build test demo bench viewer vulkan
build_preset ci
if [[ $quick == 1 ]]; then
    exec ctest --preset ci -j "$(nproc)" -L '^(unit|sample|source)$' "${select[@]}"
elif [[ -n $filter ]] && ctest --preset ci -N "${select[@]}" | grep -q '^Total Tests: 0$'; then
    exec scripts/run_cases.sh "$filter"  # no suite and no other test: perhaps cases
elif [[ ${#select[@]} -gt 0 ]]; then
    exec ctest --preset ci -j "$(nproc)" "${select[@]}"
fi
code=0
ctest --preset ci -j "$(nproc)" -LE '^(system|timing|links|browser)$' || code=$?
# Other programs have a right to fail now and then; what was repeated stands in the output.
ctest --preset ci -L '^system$' --repeat until-pass:3 || code=$?
exit "$code"
