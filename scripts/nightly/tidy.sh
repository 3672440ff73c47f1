#!/usr/bin/env bash
# clang-tidy over the whole library.
set -euo pipefail
source scripts/nightly/common.sh

scripts/tidy.sh
