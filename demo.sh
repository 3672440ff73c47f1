#!/usr/bin/env bash
# Sets up this machine, builds the arena and runs it. Arguments go to the demo: ./demo.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

source scripts/build.sh
scripts/setup.sh build demo
build_preset demo
exec out/build/demo/bin/arena "$@"
