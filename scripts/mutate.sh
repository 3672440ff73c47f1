#!/usr/bin/env bash
# Changes one thing at a time and runs the tests that ought to notice: scripts/mutate.sh SEED N
# [--list] [--only NUMBERS]. docs/design/mutants.md says what it does.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/mutate.py" "$@"
