#!/usr/bin/env bash
# Do the benchmarks run, and are their answers right? Their times are judged by ./bench.sh --against.
set -euo pipefail
source scripts/nightly/common.sh

./bench.sh --quick --compiler gcc
