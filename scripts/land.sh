#!/usr/bin/env bash
# What decides whether a commit lands, run beforehand: scripts/land.sh
# A clean clone of HEAD in an empty folder and its whole .ci/run. Nothing of this checkout counts but what is
# committed. When it passes, out/land/passed gets a line: the tree's id, the commit and the seconds; when not, the
# result is shown, and all that was said is in out/land/log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -gt 0 ]]; then
    sed -n '2,5{s/^# \{0,1\}//;p}' "$0"
    [[ $1 == --help ]] && exit 0
    echo "land.sh: there are no arguments." >&2
    exit 2
fi
if ! git rev-parse --verify --quiet HEAD >/dev/null; then
    echo "land.sh: this is no git checkout, so there is no commit to land." >&2
    exit 2
fi
if [[ -n $(git status --porcelain) ]]; then
    echo "Not committed, so not part of this run:"
    git status --short | head -n 10
fi
mkdir -p out/land
commit=$(git rev-parse --short HEAD) tree=$(git rev-parse 'HEAD^{tree}')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/project"
code=0 start=$SECONDS
(cd "$folder/project" && .ci/run) >out/land/log 2>&1 </dev/null || code=$?
seconds=$((SECONDS - start))
sed -n '/^== Result/,$p' out/land/log
if ((code == 0)); then
    echo "$tree $commit $seconds s" >>out/land/passed
    echo "$commit passes .ci/run in a clean clone, in $seconds s."
else
    echo "$commit does not pass .ci/run (exit code $code) after $seconds s; all it said is in out/land/log." >&2
fi
exit "$code"
