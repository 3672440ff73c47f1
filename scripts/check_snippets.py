#!/usr/bin/env python3
"""Compiles and runs the C++ of the documentation.

Every block ```cpp of README.md, CONTRIBUTING.md and docs/**/*.md must be one of two things: a
program (it has `int main`), which is compiled, linked and run; or marked ```cpp snippet, which is
compiled inside a function that begins with `braid::scheduler scheduler;`.

With --build FOLDER all is compiled there, through ccache where that is installed, which finds again what it has
compiled at the same path.

Programs that include <braid/PART/...> of a library beside braid are linked with what `--beside
PART=FLAG` names, and without that only compiled.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK = re.compile(r"^( *)```cpp([^\n]*)\n(.*?)^\1```", re.M | re.S)
INCLUDE = re.compile(r"^#include[^\n]*\n", re.M)
SNIPPET = """#include <braid/braid.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
{includes}
void snippet() {{
    braid::scheduler scheduler;
#line {line} "{page}"
{text}
}}
"""
BESIDE = ("reload", "pages")
TIME_LIMIT_S = 600


def blocks(root):
    """(page relative to root, line of the first code line, mark, text) of each block."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    for page in pages:
        if not page.is_file():
            continue
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 2
            yield page.relative_to(root), line, found.group(2).strip(), found.group(3)


def source_of(page, line, mark, text):
    """The translation unit and whether it is a program; None when the block is neither."""
    if mark == "snippet":
        includes = "".join(INCLUDE.findall(text))
        body = INCLUDE.sub("\n", text)
        return SNIPPET.format(includes=includes, line=line, page=page, text=body), False
    if mark == "" and re.search(r"\bint\s+main\s*\(", text):
        return f'#line {line} "{page}"\n{text}', True
    return None


def run(command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False, **options
    )


def check_block(block, compiler, link, folder, beside):
    """What is wrong with the block, or None."""
    page, line, mark, text = block
    where = f"{page}:{line}"
    source = source_of(page, line, mark, text)
    if source is None:
        return (
            f"{where}: neither a program nor marked ```cpp snippet, so nobody knows whether it"
            " compiles."
        )
    unit, is_program = source
    for part in BESIDE:
        if f"<braid/{part}/" in unit:
            flags = [flag.partition("=")[2] for flag in beside if flag.startswith(f"{part}=")]
            link = [*flags, *link]
            is_program = is_program and bool(flags)
    stem = folder / re.sub(r"\W+", "_", f"{page}_{line}")
    stem.with_suffix(".cpp").write_text(unit, encoding="utf-8")
    launcher = [path] if (path := shutil.which("ccache")) else []
    compiled = run([*launcher, *compiler, "-c", str(stem.with_suffix(".cpp")), "-o", f"{stem}.o"])
    if compiled.returncode == 0 and is_program:
        compiled = run([*compiler, f"{stem}.o", *link, "-o", str(stem)])
    if compiled.returncode != 0:
        return f"{where}: does not compile:\n{compiled.stderr}"
    if not is_program:
        return None
    try:
        ran = subprocess.run(
            [str(stem)],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
            cwd=folder,  # some write files
        )
    except subprocess.TimeoutExpired:
        return f"{where}: ran longer than {TIME_LIMIT_S} s."
    if ran.returncode != 0:
        return f"{where}: ended with {ran.returncode}:\n{ran.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flag", action="append", default=[], help="for compiling and linking")
    parser.add_argument("--link", action="append", default=[], help="library or linker flag")
    parser.add_argument("--build", type=Path, help="a folder for what is compiled; it is emptied")
    parser.add_argument("--beside", action="append", default=[], help="PART=FLAG for its linker")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    compiler = [arguments.compiler, "-std=c++20", "-Wall", "-Wextra", f"-I{root}/include"]
    compiler += arguments.flag

    found = list(blocks(root))
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = arguments.build.resolve() if arguments.build else Path(temporary)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        results = pool.map(
            lambda block: check_block(block, compiler, arguments.link, folder, arguments.beside),
            found,
        )
        problems = [problem for problem in results if problem]
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} of {len(found)} documentation snippets are wrong.")
        return 1
    print(f"{len(found)} documentation snippets compile and run.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
