#!/usr/bin/env bash
# Sets up this machine, builds the arena and runs it. Arguments go to the demo: ./demo.sh --help
# With --watch the game and its sound are built whenever one of their files was saved.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# build_on_save PROCESS: until that one ends. A build that fails shows its errors; the code before goes on.
build_on_save() {
    # The overlay shows how long after this the module was there.
    local mark=out/build/demo/live/.build_began
    touch "$mark"
    while kill -0 "$1" 2>/dev/null; do
        if [[ -n $(find demo/game -path demo/game/render -prune -o -type f -newer "$mark" -print -quit) ]]; then
            touch "$mark"
            cmake --build --preset demo --target arena_game arena_sound >out/build/demo.log 2>&1 ||
                grep -E '(error|warning):|refused' out/build/demo.log >&2 || cat out/build/demo.log >&2
        fi
        sleep 0.2
    done
}

source scripts/build.sh
scripts/setup.sh build demo vulkan
build_preset demo
for argument in "$@"; do
    # The demo takes the place of this shell, and its process number.
    if [[ $argument == --watch ]]; then build_on_save $$ & fi
done
exec out/build/demo/bin/arena "$@"
