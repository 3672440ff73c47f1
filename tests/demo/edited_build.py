"""Builds the game's module from an edited source, with the commands of the build."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S



def build_edited(build, folder, name, old, new):
    """`folder`/game.so: the game as somebody builds it who puts `new` in the place of `old` in that source."""
    commands = json.loads((build / "compile_commands.json").read_text())
    entry = next(one for one in commands if one["file"].endswith(f"demo/game/{name}")
                 and "/arena_game.dir/" in one["command"])
    text = pathlib.Path(entry["file"]).read_text()
    assert text.count(old) == 1, f"'{old}' does not stand in {name} once"
    (folder / name).write_text(text.replace(old, new))
    inside = build / re.search(r" -o (\S+) ", entry["command"])[1]
    edited = folder / f"{name}.o"
    command = [*shlex.split(entry["command"].split(" -o ")[0]), f"-I{pathlib.Path(entry['file']).parent}",
               "-o", str(edited), "-c", str(folder / name)]
    subprocess.run(command, cwd=entry["directory"], check=True, timeout=HANG_LIMIT_S)
    objects = [edited if one == inside else one for one in sorted(inside.parent.glob("*.o"))]
    module = folder / "game.so"
    subprocess.run([command[0], "-shared", "-Wl,--build-id=sha1", "-Wl,-Bsymbolic", *map(str, objects),
                    str(build / "lib" / "libarena_render.so"), "-o", str(module)],
                   check=True, timeout=HANG_LIMIT_S)
    return module
