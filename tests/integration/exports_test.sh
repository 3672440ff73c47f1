#!/usr/bin/env bash
# The shared library shows the world its own namespace and nothing else: exports_test.sh NM LIBRARY
# Weak symbols are left out: they are templates of the standard library, shared by every program.
set -euo pipefail

shown=$("$1" --dynamic --defined-only --demangle "$2" | awk '$2 ~ /^[TDBR]$/')
count=$(wc -l <<<"$shown")
strangers=$(grep -vE ' [TDBR] (braid::|(vtable|typeinfo|typeinfo name|guard variable|VTT) for braid::)' <<<"$shown" || true)
if [[ -n $strangers ]]; then
    echo "$strangers"
    echo "These symbols are exported without belonging to braid::."
    exit 1
fi
if [[ $count -lt 10 ]]; then
    echo "Only $count symbols are exported: BRAID_API is missing, or this is no shared library."
    exit 1
fi
echo "$count symbols are exported, all of namespace braid."
