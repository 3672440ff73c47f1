#!/usr/bin/env bash
# Cross-built for Windows, unit tests and samples under Wine.
set -euo pipefail
source scripts/nightly/common.sh

scripts/cross.sh windows
