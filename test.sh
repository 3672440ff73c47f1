#!/usr/bin/env bash
# Builds Braid and runs its tests.
#
#   ./test.sh                   set up this machine, build preset ci, run everything
#   ./test.sh --quick           build, then only unit tests, samples and source checks (the inner loop)
#   ./test.sh --filter REGEX    only tests whose name matches
#   ./test.sh -- ARGUMENTS      pass the rest on to ctest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

quick=0
select=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --help | -h)
            sed -n '2,7{s/^# \{0,1\}//;p}' "$0"
            exit 0
            ;;
        --quick) quick=1 ;;
        --filter)
            if [[ $# -lt 2 ]]; then
                echo "test.sh: --filter wants a regular expression." >&2
                exit 2
            fi
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
if [[ $quick == 1 ]]; then
    select+=(-L '^(unit|sample|source)$')
else
    scripts/setup.sh build test demo bench viewer vulkan
fi
build_preset ci
ctest --preset ci -j "$(nproc)" "${select[@]}"
