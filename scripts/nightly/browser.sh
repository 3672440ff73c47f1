#!/usr/bin/env bash
# The profiler's page in a browser.
set -euo pipefail
source scripts/nightly/common.sh

scripts/setup.sh viewer
build_preset ci
ctest --preset ci -L '^browser$' --no-tests=error
