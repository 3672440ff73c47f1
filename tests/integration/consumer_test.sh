#!/usr/bin/env bash
# Other people's projects build against Braid: consumer_test.sh COMPILER [BUILD]
# With BUILD, a folder where Braid is built: what is installed from there, found by find_package and by
# pkg-config after the install was moved, with pages, where zstd is, and a module that is reloaded.
# Without it, each kind in a build of its own: as a shared and as a static library, and as a folder inside
# the project; the static one and the folder with Tracy, for which a package stands in.
# Works in a temporary folder, without optimization: packages are the subject.
set -euo pipefail

compiler=$1 build=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CMAKE_GENERATOR=Ninja CXXFLAGS=-O0
release=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG)

run() {
    if ! "$@" >"$work/log" 2>&1; then
        cat "$work/log"
        echo "failed: $*"
        exit 1
    fi
}

consume() { # NAME, then arguments for the consumer's configure step
    local name=$1
    shift
    run cmake -S "$here/consumer" -B "$work/consumer-$name" "${release[@]}" \
        -DCMAKE_CXX_COMPILER="$compiler" "$@"
    run cmake --build "$work/consumer-$name"
    run timeout 600 "$work/consumer-$name/consumer"
    echo "$name: $(cat "$work/log")"
}

no_tracy=-DCMAKE_DISABLE_FIND_PACKAGE_Tracy=ON
with_tracy=-DTracy_DIR=$root/tests/profile/tracy/stand_in

# Installs what was built in BUILD, moves it and consumes it.
package() { # KIND BUILD
    local kind=$1
    run cmake --install "$2" --prefix "$work/first-$kind"
    # Nothing may lean on the place of building or of installing.
    [[ $2 == "$build" ]] || rm -rf "$2"
    mv "$work/first-$kind" "$work/prefix-$kind"
    if grep -rlE "$work|$root" "$work/prefix-$kind" --include='*.cmake' --include='*.pc'; then
        echo "The installed package names a folder of the machine that built it."
        exit 1
    fi
    # There is no such library where zstd is missing.
    local pages=OFF
    if [[ -n $(find "$work/prefix-$kind" -name libbraid_pages.a) ]]; then pages=ON; fi
    consume "$kind" -DCONSUMER_PAGES=$pages -DCMAKE_PREFIX_PATH="$work/prefix-$kind" "$no_tracy"
    build_without_cmake "$kind"
}

# Compiles with what pkg-config says alone.
build_without_cmake() { # KIND
    local kind=$1 file name sources=("$here/consumer/main.cpp" "$here/consumer/coroutine.cpp") defines=()
    file=$(find "$work/prefix-$kind" -name braid.pc)
    export PKG_CONFIG_PATH=${file%/*}
    name=braid
    if [[ -e ${file%/*}/braid_pages.pc ]]; then
        name=braid_pages sources+=("$here/consumer/pages.cpp") defines+=(-DCONSUMER_PAGES)
    fi
    local flags libdir
    read -ra flags < <(pkg-config --cflags --libs $name)
    libdir=$(pkg-config --variable=libdir braid)
    run "$compiler" -std=c++20 "${sources[@]}" "${defines[@]}" "${flags[@]}" "-Wl,-rpath,$libdir" \
        -o "$work/consumer-pc-$kind"
    run timeout 600 "$work/consumer-pc-$kind"
    echo "$kind, by pkg-config: $(cat "$work/log")"
    if pkg-config --atleast-version=99 braid || ! pkg-config --atleast-version=0.1 braid; then
        echo "braid.pc has the version '$(pkg-config --modversion braid)'."
        exit 1
    fi
    # Each library beside it names all that it needs.
    for file in "${file%/*}"/braid_*.pc; do
        [[ -e $file ]] || continue  # none was built
        name=$(basename "$file" .pc)
        read -ra flags < <(pkg-config --libs "$name")
        run "$compiler" -shared -Wl,--no-undefined -Wl,--whole-archive "$libdir/lib$name.a" \
            -Wl,--no-whole-archive "${flags[@]}" -o "$work/whole.so"
    done
}

kinds=(shared static)
if [[ -n $build ]]; then
    kinds=()
    package shared "$build"
fi
for kind in "${kinds[@]}"; do
    if [[ $kind == shared ]]; then
        shared=ON given=("$no_tracy")
    else
        shared=OFF given=("$with_tracy" -DBRAID_WITH_TRACY=ON -DBRAID_BUILD_TOOLS=OFF)
    fi
    run cmake -S "$root" -B "$work/$kind" "${release[@]}" -DBUILD_SHARED_LIBS=$shared -DBRAID_WITH_PAGES=ON \
        -DCMAKE_CXX_COMPILER="$compiler" -DBRAID_BUILD_TESTS=OFF -DBRAID_BUILD_SAMPLES=OFF \
        -DBRAID_BUILD_DEMO=OFF -DBRAID_BUILD_BENCH=OFF "${given[@]}"
    run cmake --build "$work/$kind"
    package "$kind" "$work/$kind"
done

# The second build of the module is made and published while the host runs.
reloads() { # NAME
    local folder=$work/consumer-$1
    local deadline=$((SECONDS + 600))
    consume "$1" -DCONSUMER_RELOAD=ON -DGAME_VALUE=1 "${@:2}"
    "$folder/reload_host" >"$work/host.log" 2>&1 &
    host=$!
    trap 'kill "$host" 2>/dev/null || true; rm -rf "$work"' EXIT
    until grep -q "build 1$" "$work/host.log"; do
        if ! kill -0 "$host" 2>/dev/null || ((SECONDS > deadline)); then
            cat "$work/host.log"
            echo "The host has not loaded the installed package's module."
            exit 1
        fi
        sleep 0.1
    done
    run cmake -DGAME_VALUE=2 "$folder"
    run cmake --build "$folder" --target reload_game
    if [[ ! -e $folder/live/libreload_game.so.stamp ]]; then
        echo "The module was not published by the installed tool."
        exit 1
    fi
    if ! wait "$host"; then
        cat "$work/host.log"
        echo "The host did not reload the module."
        exit 1
    fi
    trap 'rm -rf "$work"' EXIT
    echo "$1: $(tail -n 1 "$work/host.log")"
}
# There is no such library where libdw is missing.
if [[ -n $(find "$work/prefix-shared" -name libbraid_reload.a) ]]; then
    reloads reload -DCMAKE_PREFIX_PATH="$work/prefix-shared" "$no_tracy"
fi
[[ -z $build ]] || exit 0
consume static-tracy -DCMAKE_PREFIX_PATH="$work/prefix-static" "$with_tracy" -DCONSUMER_TRACY=ON
consume folder -DBRAID_SOURCE="$root" "$with_tracy" -DCONSUMER_TRACY=ON
if [[ -e $work/consumer-folder/braid/tests || -e $work/consumer-folder/braid/demo ]]; then
    echo "As a folder of another project, Braid built more than its library."
    exit 1
fi

refuses() { # TEXT, then a configure step that must fail with it
    local text=$1
    shift
    if "$@" >"$work/log" 2>&1 || ! tr '\n' ' ' <"$work/log" | tr -s ' ' | grep -qF "$text"; then
        cat "$work/log"
        echo "did not say '$text': $*"
        exit 1
    fi
}
refuses "BRAID_WITH_TRACY=ON, but Tracy was not found" \
    cmake -S "$root" -B "$work/demanded" "$no_tracy" -DBRAID_WITH_TRACY=ON
refuses "braid::tracy needs Tracy" \
    cmake -S "$here/consumer" -B "$work/unmet" "$with_tracy" -DCONSUMER_TRACY=ON \
    -DCMAKE_PREFIX_PATH="$work/prefix-shared"
