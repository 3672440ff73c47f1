"""Where nothing can be reloaded the game is a part of the arena, which says so when it is to watch or to
edit itself."""
from arena_runs import check, run

for wish in ("--watch", "--self-edit"):
    done = run("--frames", "8", wish)
    check(done.returncode == 2, f"{wish}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    check("the game is a part of this program" in done.stderr and done.stderr.count("\n") == 1,
          f"{wish}: not one sentence that says so: {done.stderr}")
