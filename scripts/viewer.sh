#!/usr/bin/env bash
# Builds the profiler's viewer, viewer/dist/index.html, which is committed so that nobody else needs node.
#
#   scripts/viewer.sh            check types, run the unit tests, build into viewer/out/page
#   scripts/viewer.sh --check    the same, and fail when the committed page is another one
#   scripts/viewer.sh --update   the same, and make it the page to commit
#   scripts/viewer.sh --e2e      try the committed page in Chromium; pictures go to viewer/out
#   scripts/viewer.sh --numbers FOLDER   compare with what `braid report --json` said of the captures there
#
# Needs node 18 or newer and npm (and Chromium for --e2e): scripts/setup.sh viewer. Where one is
# missing it says so and ends with 77, which CTest shows as skipped.
set -euo pipefail
started_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../viewer"

mode=${1:-}
case $mode in
    --help | -h)
        sed -n '2,11{s/^# \{0,1\}//;p}' ../scripts/viewer.sh
        exit 0
        ;;
    '' | --check | --update | --e2e) ;;
    --numbers)
        if ! folder=$(cd "$started_in" && cd "${2:-no folder}" 2>/dev/null && pwd); then
            echo "viewer.sh: --numbers wants a folder with captures, NAME.braid, and reports, NAME.json." >&2
            exit 2
        fi
        ;;
    *)
        echo "viewer.sh: unknown argument '$mode'; scripts/viewer.sh --help lists what there is." >&2
        exit 2
        ;;
esac

skip() {
    echo "viewer.sh: $1; scripts/setup.sh viewer installs it." >&2
    exit 77
}
command -v node >/dev/null || skip "node is not here"
command -v npm >/dev/null || skip "npm is not here"
if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 18 ? 0 : 1)'; then
    skip "node is older than 18"
fi
if [[ $mode == --e2e ]] && ! command -v "${BRAID_CHROMIUM:-chromium}" >/dev/null; then
    skip "Chromium is not here"
fi

# One at a time, because they share node_modules. Installed once for each state of the lock file.
mkdir -p out
exec 9>out/lock
flock 9
installed=node_modules/.braid-installed
if ! cmp -s package-lock.json "$installed"; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! npm ci --no-progress >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        # Nothing to do about a machine without a network; anything else is a mistake.
        if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' "$log"; then
            echo "viewer.sh: npm's registry cannot be reached, so the viewer was not checked." >&2
            exit 77
        fi
        echo "viewer.sh: npm could not install what package-lock.json names (its last lines are above)." >&2
        exit 1
    fi
    cp package-lock.json "$installed"
fi

if [[ $mode == --e2e ]]; then
    npx --no-install vitest run --config vitest.e2e.config.ts
    exit 0
fi
if [[ $mode == --numbers ]]; then
    BRAID_CAPTURES=$folder npx --no-install vitest run tests/unit/numbers.test.ts
    exit 0
fi

npx --no-install tsc --project .
npx --no-install vitest run
NODE_ENV=production npx --no-install vite build --logLevel warn --outDir out/page
case $mode in
    --check)
        if ! cmp -s out/page/index.html dist/index.html; then
            echo "viewer.sh: viewer/dist/index.html is not what its sources build; run scripts/viewer.sh --update and commit it." >&2
            exit 1
        fi
        echo "viewer/dist/index.html is what its sources build."
        ;;
    --update)
        mkdir -p dist
        cp out/page/index.html dist/index.html
        echo "viewer/dist/index.html: $(stat -c %s dist/index.html) bytes."
        ;;
esac
