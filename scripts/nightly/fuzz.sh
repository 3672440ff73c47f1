#!/usr/bin/env bash
# Broken captures, modules and packs for their readers.
set -euo pipefail
source scripts/nightly/common.sh

scripts/fuzz.sh $((scale * 30))
