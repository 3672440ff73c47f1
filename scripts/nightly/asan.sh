#!/usr/bin/env bash
# Address and undefined-behaviour sanitizers at 0, 2 and 8 workers, with stress tests and 1,000 reloads.
set -euo pipefail
source scripts/nightly/common.sh

sanitized asan
