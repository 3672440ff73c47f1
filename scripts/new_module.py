#!/usr/bin/env python3
"""Begins a module: scripts/new_module.py NAME

Makes include/braid/NAME/NAME.hpp, src/NAME/NAME.cpp and tests/NAME/NAME_test.cpp, and adds NAME to
the modules that CMakeLists.txt builds. The layer table of docs/architecture.md must name it first.
"""

import argparse
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import check_layers  # noqa: E402  (beside this file)

HEADER = """#pragma once
// What {name} is for, in two lines: who uses it, and what it saves them from.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN

/// What a caller must know that the signature cannot say.
BRAID_API int {name}_answer() noexcept;

BRAID_NAMESPACE_END
"""
SOURCE = """#include "braid/{name}/{name}.hpp"

BRAID_NAMESPACE_BEGIN

int {name}_answer() noexcept {{ return 42; }}

BRAID_NAMESPACE_END
"""
TEST = """#include <braid/{name}/{name}.hpp>

#include <gtest/gtest.h>

TEST({title}, AnswersBeforeAnybodyHasReplacedIt) {{ EXPECT_EQ(braid::{name}_answer(), 42); }}
"""
MODULES = re.compile(r"^set\(braid_modules ([^)]*)\)", re.M)


class refused(Exception):
    pass


def create(root, name):
    """Writes the files; returns their paths."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise refused(f"'{name}' is no module name; use snake_case, for example job_list.")
    try:
        levels = check_layers.read_layers((root / "docs/architecture.md").read_text("utf-8"))
    except check_layers.table_error as error:
        raise refused(f"docs/architecture.md {error}.") from error
    if name not in levels:
        raise refused(f"'{name}' is in no row of the layer table of docs/architecture.md; add it.")
    files = {
        root / f"include/braid/{name}/{name}.hpp": HEADER,
        root / f"src/{name}/{name}.cpp": SOURCE,
        root / f"tests/{name}/{name}_test.cpp": TEST,
    }
    for file in files:
        if file.exists():
            raise refused(f"{file.relative_to(root)} exists already.")
    lists = root / "CMakeLists.txt"
    text = lists.read_text("utf-8")
    found = MODULES.search(text)
    if not found:
        raise refused("CMakeLists.txt has no line set(braid_modules ...).")

    for file, template in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(template.format(name=name, title=name.title().replace("_", "")), "utf-8")
    if name not in found.group(1).split():
        lists.write_text(text[: found.end(1)] + f" {name}" + text[found.end(1) :], "utf-8")
    return sorted(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    try:
        for file in create(arguments.root, arguments.name):
            print(file.relative_to(arguments.root))
    except refused as error:
        print(f"new_module.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
