#!/usr/bin/env bash
# Sets up this machine, builds the benchmarks for its processor and runs them.
# Arguments go to bench/run.py: ./bench.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

scripts/setup.sh build bench
exec python3 bench/run.py "$@"
