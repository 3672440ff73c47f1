#!/usr/bin/env bash
# Feeds broken captures to their reader and to the exports, broken modules to the checks of reloading,
# and broken packs to the reader of pages: scripts/fuzz.sh [SECONDS] (60 each).
# Built with clang's fuzzer and its sanitizers. A finding ends it, and stays in out/fuzz. So does a
# time in which fewer than 10,000 changed modules were tried.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    echo "fuzz.sh: say how many seconds, a whole number from 1, not '$seconds'." >&2
    exit 2
fi
if ! command -v clang++-19 >/dev/null; then
    echo "fuzz.sh: there is no clang++-19: run scripts/setup.sh lint." >&2
    exit 2
fi

folder=out/fuzz
mkdir -p "$folder/seeds" "$folder/corpus"
flags=(-std=c++20 -O1 -g -pthread -Iinclude -Isrc -isystem /usr/include/utf8cpp -DBRAID_STATIC -DBRAID_CHECKED=1)
echo "Building the fuzzer."
clang++-19 "${flags[@]}" -o "$folder/make_captures" \
    tests/tools/export/make_captures.cpp src/profile/capture_writer.cpp
clang++-19 "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -o "$folder/capture_fuzz" tests/fuzz/capture_fuzz.cpp \
    src/profile/capture_*.cpp src/profile/{export,perfetto,chrome}/*.cpp
clang++-19 "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -o "$folder/module_fuzz" tests/fuzz/module_fuzz.cpp src/reload/{image,stamp}/*.cpp
clang++-19 "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -o "$folder/pack_fuzz" tests/fuzz/pack_fuzz.cpp src/pages/pack_format.cpp -lzstd
clang++-19 "${flags[@]}" -o "$folder/make_packs" \
    tests/fuzz/make_packs.cpp src/pages/pack_{format,writer}.cpp -lzstd
"$folder/make_captures" "$folder/seeds"
# Small ones are tried more often.
find "$folder/seeds" -size +16k -delete
mkdir -p "$folder/module_seeds" "$folder/module_corpus"
mkdir -p "$folder/pack_seeds" "$folder/pack_corpus"
"$folder/make_packs" "$folder/pack_seeds"
for linker in bfd lld; do
    clang++-19 -std=c++20 -Iinclude -shared -fPIC -O1 -fvisibility=hidden -fuse-ld=$linker -Wl,-s \
        -Wl,--build-id=sha1 -Wl,-Bsymbolic -Wl,-z,max-page-size=256 -DGAME_VALUE=1 \
        -o "$folder/module_seeds/$linker.so" tests/reload/modules/game.cpp
done

fuzz() { # PROGRAM CORPUS SEEDS LONGEST LEAST
    echo "Fuzzing with $1 for $seconds s."
    if ! "$folder/$1" -max_total_time="$seconds" -max_len="$4" -timeout=20 -use_value_profile=1 \
        -print_final_stats=1 -artifact_prefix="$folder/" "$folder/$2" "$folder/$3" \
        >"$folder/log" 2>&1; then
        tail -n 40 "$folder/log" >&2
        echo "fuzz.sh: something was found; the input is in $folder, all output in $folder/log." >&2
        exit 1
    fi
    # Seeds and what earlier runs have kept are read first, unchanged.
    local read all
    read=$(sed -n 's/^#\([0-9]*\)[[:space:]]*INITED.*/\1/p' "$folder/log")
    all=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")
    local changed=$((all - read))
    if ((changed < $5)); then
        echo "fuzz.sh: $1 has tried $changed changed inputs of $5; give it more than $seconds s." >&2
        exit 1
    fi
    echo "$1 has tried $changed changed inputs."
}
fuzz capture_fuzz corpus seeds 8192 1
fuzz module_fuzz module_corpus module_seeds 16384 10000
fuzz pack_fuzz pack_corpus pack_seeds 4096 10000
