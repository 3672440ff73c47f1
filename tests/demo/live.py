"""`arena --live` shows a page with the right token the whole capture, from where it joins to its end."""
import socket
import struct
import subprocess
import sys

from arena_runs import ARENA, HANG_LIMIT_S, check, scratch_folder


def receive(page, size):
    data = b""
    while len(data) < size:
        more = page.recv(size - len(data))
        check(more, "the connection ended without a close")
        data += more
    return data


def messages(page):
    """Kind and bytes of each, until the close."""
    while True:
        first, size = receive(page, 2)
        if size == 126:
            size = struct.unpack(">H", receive(page, 2))[0]
        elif size == 127:
            size = struct.unpack(">Q", receive(page, 8))[0]
        yield first & 15, receive(page, size)
        if first & 15 == 8:
            return


def join(url):
    host, token = url.removeprefix("http://").split("/#live=")
    name, port = host.split(":")
    page = socket.create_connection((name, int(port)), HANG_LIMIT_S)
    page.sendall((f"GET /stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += receive(page, 1)
    check(head.startswith(b"HTTP/1.1 101"), head)
    page.sendall(bytes([0x81, 0x80 | len(token), 0, 0, 0, 0]) + token.encode())
    return page


def main():
    folder = scratch_folder()
    file = folder / "both.braid"
    # Three seconds at least, so that the page joins in time.
    with subprocess.Popen([ARENA, "--headless", "--frames", "30", "--characters", "60", "--width",
                           "640", "--height", "360", "--workers", "1", "--out", str(folder),
                           "--live", "--capture", str(file), "--fps", "10"],
                          stdout=subprocess.PIPE, text=True) as run:
        try:
            url = ""
            while not url.startswith("Live at "):
                url = run.stdout.readline()
                check(url, "no address was printed")
            shown, lost, closed = b"", 0, None
            with join(url.split()[-1]) as page:
                for kind, data in messages(page):
                    if kind == 2:
                        shown += data
                    elif kind == 1:
                        lost += b'"lost"' in data
                    elif kind == 8:
                        closed = struct.unpack(">H", data[:2])[0]
            text = run.stdout.read()
            check(run.wait(HANG_LIMIT_S) == 0, f"exit {run.returncode}")
        finally:
            run.kill()
    check(closed == 1000, f"closed with {closed}")
    check(shown.startswith(b"BRAIDCAP"), "no header")
    check(shown[-16:-12] == b"DONE", "no end")
    check(lost == 0, "a page that reads lost something")
    check("sent, 0 lost by slow pages" in text, text)
    check(file.read_bytes()[-16:] == shown[-16:], "the file has another end")
    check(len(shown) > file.stat().st_size // 4, f"{len(shown)} of {file.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
