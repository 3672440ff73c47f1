#!/usr/bin/env bash
# Streaming: 4,000 seeds of failing reads on each back end, 10,000 under a chooser, and those of pages.
set -euo pipefail
source scripts/nightly/common.sh

build_preset ci async_tests pages_tests page_use_model
ctest --preset ci -R '^Workers/Stream(Page)?Seeds\.' -V "${long[@]}"
ctest --preset ci -R '^model\.page_use$' "${long[@]}"
