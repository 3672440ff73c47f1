# Sourced by the scripts at top level: build_preset PRESET [TARGET...].
# Quiet while all goes well; on failure it shows the compiler's output and stops the caller.

build_preset() {
    local preset=$1
    shift
    local folder=out/build/$preset
    local log=$folder.log
    local targets=()
    [[ $# -gt 0 ]] && targets=(--target "$@")
    mkdir -p out/build
    if [[ ! -f $folder/build.ninja ]]; then
        echo "Configuring preset $preset."
        if ! cmake --preset "$preset" >"$log" 2>&1; then
            cat "$log" >&2
            echo "Configuring preset $preset failed." >&2
            exit 1
        fi
    fi
    echo "Building preset $preset."
    if ! cmake --build --preset "$preset" "${targets[@]}" >"$log" 2>&1; then
        grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Re-checking)' "$log" | tail -n 100 >&2
        echo "Building preset $preset failed; all output is in $log." >&2
        exit 1
    fi
}
