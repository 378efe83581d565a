"""A small data set, a server on this machine that serves it, and ways to fail."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy as np
from scipy.io import savemat

from franet.datasets import Entry

X = np.arange(12, dtype=np.uint8).reshape(4, 3)
Y = np.array([[1], [2], [1], [2]], dtype=np.uint8)


def mat(**variables) -> bytes:
    file = BytesIO()
    savemat(file, variables)
    return file.getvalue()


TINY = mat(X=X, Y=Y)
SHA256 = hashlib.sha256(TINY).hexdigest()
GIT_ID = hashlib.sha1(b"blob %d\0" % len(TINY) + TINY).hexdigest()


def entry(url="http://127.0.0.1:9/tiny_set.mat", **changes) -> Entry:
    tiny = Entry("tiny-set", 4, 3, 2, "test", url, sha256=SHA256, excluded="a test")
    return replace(tiny, **changes)


class Server:
    """Answers, one for each request; the last one for all further requests.

    An answer is a status and a body; then, to fail, how many bytes are sent before the
    connection is cut, and what is called before it hangs until the server is closed.
    """

    def __init__(self) -> None:
        self.answers: list[tuple] = [(200, TINY)]
        self.n_requests = 0
        self.url = ""
        self.closing = threading.Event()

    def next(self) -> tuple:
        place = min(self.n_requests, len(self.answers) - 1)
        self.n_requests += 1
        return self.answers[place]


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, *failure = server.next()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: failure[0]] if failure else body)
            for call in failure[1:]:
                self.wfile.flush()
                call()
                server.closing.wait()

        def log_message(self, *args):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/tiny_set.mat"
    try:
        yield server
    finally:
        server.closing.set()
        http.shutdown()
        thread.join()
        http.server_close()
