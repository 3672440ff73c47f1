#!/usr/bin/env bash
# Packages of all kinds: shared, static, with Tracy, and as a folder of another project.
set -euo pipefail
source scripts/nightly/common.sh

tests/integration/consumer_test.sh "$(command -v g++)"
