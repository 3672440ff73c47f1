#!/usr/bin/env bash
# Sets up this machine, builds the benchmarks for its processor and runs them.
# Arguments go to bench/run.py: ./bench.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

source scripts/build.sh
if [[ ! -f bench/run.py ]]; then
    echo "bench.sh: there are no benchmarks yet (bench/run.py is missing)." >&2
    exit 2
fi
scripts/setup.sh build bench
build_preset bench bench
exec python3 bench/run.py --build out/build/bench "$@"
