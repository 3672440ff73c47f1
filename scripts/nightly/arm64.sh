#!/usr/bin/env bash
# Cross-built for arm64, unit tests and samples under qemu-user.
set -euo pipefail
source scripts/nightly/common.sh

scripts/cross.sh arm64
