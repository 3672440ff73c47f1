#!/usr/bin/env bash
# Other people's projects build against Braid: consumer_test.sh COMPILER
# Installed as a shared and as a static library, each found by find_package after the install was
# moved, and as a folder inside the project; the static one and the folder with Tracy, for which a
# package stands in. Works in a temporary folder, without optimization: packages are the subject.
set -euo pipefail

compiler=$1
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
    run timeout 60 "$work/consumer-$name/consumer"
    echo "$name: $(cat "$work/log")"
}

no_tracy=-DCMAKE_DISABLE_FIND_PACKAGE_Tracy=ON
with_tracy=-DTracy_DIR=$root/tests/profile/tracy/stand_in

for kind in shared static; do
    if [[ $kind == shared ]]; then
        shared=ON given=("$no_tracy")
    else
        shared=OFF given=("$with_tracy" -DBRAID_WITH_TRACY=ON -DBRAID_BUILD_TOOLS=OFF)
    fi
    run cmake -S "$root" -B "$work/$kind" "${release[@]}" -DBUILD_SHARED_LIBS=$shared \
        -DCMAKE_CXX_COMPILER="$compiler" -DBRAID_BUILD_TESTS=OFF -DBRAID_BUILD_SAMPLES=OFF \
        -DBRAID_BUILD_DEMO=OFF -DBRAID_BUILD_BENCH=OFF "${given[@]}"
    run cmake --build "$work/$kind"
    run cmake --install "$work/$kind" --prefix "$work/first-$kind"
    # Nothing may lean on the place of building or of installing.
    rm -rf "${work:?}/$kind"
    mv "$work/first-$kind" "$work/prefix-$kind"
    if grep -rlE "$work|$root" "$work/prefix-$kind" --include='*.cmake'; then
        echo "The installed package names a folder of the machine that built it."
        exit 1
    fi
    consume "$kind" -DCMAKE_PREFIX_PATH="$work/prefix-$kind" "$no_tracy"
done
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
