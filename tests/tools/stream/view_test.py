"""`braid view FILE` serves the file's bytes and a page on this machine to who knows the token of its
address, until it is told to end."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from hang_limit import HANG_LIMIT_S

BRAID, MAKE_CAPTURES = sys.argv[1:3]
seen = set()  # tokens: each run has another one


def check(condition, message):
    if not condition:
        sys.exit(message)


def get(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=HANG_LIMIT_S) as answer:
        return answer.read(), answer.headers


def status_of(url, **headers):
    try:
        get(url, **headers)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def view(capture, end_by):
    with subprocess.Popen([BRAID, "view", str(capture), "--no-browser"], stdout=subprocess.PIPE,
                          text=True) as server:
        try:
            address = server.stdout.readline().split(" ")[0]
            url, _, token = address.partition("#view=")
            check(re.fullmatch(r"http://127\.0\.0\.1:\d+/", url), f"no address: {address!r}")
            check(re.fullmatch("[0-9a-f]{32}", token) and token not in seen, f"no token: {token!r}")
            seen.add(token)
            page, headers = get(url)
            check(page.lower().startswith(b"<!doctype html>"), "no page")
            check("default-src 'none'" in headers["Content-Security-Policy"], "no policy")
            bearer = "Bearer " + token
            check(token.encode() not in page, "the page tells the token")
            check(get(url + "capture.braid", Authorization=bearer)[0] == capture.read_bytes(),
                  "other bytes")
            json.loads(get(url + "analysis.json", Authorization=bearer)[0])
            wrong = ("", token, "Bearer", "Bearer ", bearer + "0", bearer[:-1], "bearer " + token,
                     "Bearer " + 32 * "0", "Basic " + token)
            for path in ("capture.braid", "analysis.json"):
                check(status_of(url + path) == 403, f"{path} is served without a token")
                check(status_of(f"{url}{path}?view={token}") == 403, f"{path}: token in the address")
                for other in wrong:
                    check(status_of(url + path, Authorization=other) == 403,
                          f"{path} is served for {other!r}")
            for path in ("stream", "missing", "../etc/passwd", capture.name):
                check(status_of(url + path, Authorization=bearer) == 404, f"{path} is served")
            server.send_signal(end_by)
            check(server.wait(HANG_LIMIT_S) == 0, f"exit {server.returncode} after {end_by}")
        finally:
            server.kill()


def refuses(*arguments):
    done = subprocess.run([BRAID, "view", *arguments], capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False)
    check(done.returncode == 2 and done.stderr.startswith("braid: ") and not done.stdout,
          f"{arguments}: exit {done.returncode}, {done.stderr!r}")


def opens_a_browser(folder):
    """A program of that name, first on the path, says what it was asked to open."""
    said = folder / "said"
    os.mkfifo(said)
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$#" "$1" > "{said}"\n')
    program.chmod(0o755)
    live = "http://localhost:1/#live=" + 32 * "a"
    surroundings = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run([BRAID, "view", "--live", live], env=surroundings, check=True, timeout=HANG_LIMIT_S)
    check(said.read_text() == f"1 {live}\n", "the browser was asked for something else")
    done = subprocess.run([BRAID, "view", "--live", live], env={"PATH": "/nowhere"}, check=True,
                          capture_output=True, text=True, timeout=HANG_LIMIT_S)
    check("no browser was opened" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([MAKE_CAPTURES, name], check=True, timeout=HANG_LIMIT_S,
                       stdout=subprocess.DEVNULL)
        capture = sorted(folder.glob("*.braid"))[0]
        for end_by in (signal.SIGINT, signal.SIGTERM):
            view(capture, end_by)
        opens_a_browser(folder)
        refuses()
        refuses(str(folder / "missing.braid"))
        refuses(name)
        refuses(__file__)
        refuses(str(capture), "--live", "http://127.0.0.1:1/#live=" + 32 * "0")
        refuses("--live", "http://example.org:1/#live=" + 32 * "0")
        refuses("--live", "http://127.0.0.1:1/")
        live = "http://127.0.0.1:1/#live=" + 32 * "0"
        told = subprocess.run([BRAID, "view", "--live", live, "--no-browser"], capture_output=True,
                              text=True, timeout=HANG_LIMIT_S, check=True)
        check(told.stdout == live + "\n", told.stdout)


main()
