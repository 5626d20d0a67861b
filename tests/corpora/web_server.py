"""A web server on this machine: files by their path, in whatever way a test asks for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server has, what it was asked for, and how it misbehaves."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.refused: dict[str, int] = {}
        self.breaks_off_after: int | None = None
        self.knows_ranges = True
        self.asked: list[tuple[str, str | None]] = []
        self.address = ""


@contextmanager
def serve_site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, asked = self.path.lstrip("/"), self.headers["Range"]
            site.asked.append((name, asked))
            if name in site.moved:
                self.send_response(302)
                self.send_header("Location", site.moved[name])
                self.end_headers()
            elif name in site.refused:
                self.send_error(site.refused[name])
            elif name not in site.files:
                self.send_error(404)
            else:
                self.send(site.files[name], int(asked[6:-1]) if asked and site.knows_ranges else 0)

        def send(self, content: bytes, start: int) -> None:
            if start and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start : site.breaks_off_after])

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        site.address = f"http://127.0.0.1:{server.server_port}/"
        yield site
        server.shutdown()
