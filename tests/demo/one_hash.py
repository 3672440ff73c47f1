"""Every backend and every number of workers ends in the same hash; another seed in another."""
from arena_runs import backends, check, small_run

reference = None
for backend in backends():
    for workers in ("0",) if backend == "serial" else ("0", "1", "3"):
        summary, _ = small_run("--backend", backend, "--workers", workers)
        check(summary["hash_equal"], f"{backend} with {workers} workers differs from serial")
        reference = reference or summary["hash_serial"]
        check(summary["hash_parallel"] == reference,
              f"{backend} with {workers} workers: {summary['hash_parallel']}, not {reference}")

other, _ = small_run("--seed", "2")
check(other["hash_serial"] != reference, "the seed does not reach the hash")
more, _ = small_run("--characters", "61")
check(more["hash_serial"] != reference, "the number of characters does not reach the hash")
