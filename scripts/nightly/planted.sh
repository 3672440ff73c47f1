#!/usr/bin/env bash
# Causes that were planted in programs are found in their captures.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci planted braid_tool
python3 tests/tools/planted/planted_test.py out/build/ci/bin/planted out/build/ci/bin/braid
