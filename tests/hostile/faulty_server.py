"""A server of chat completions that answers as a test says, and misbehaves by a seeded script."""

import json
import random
import socket
import struct
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = b"<html><body>Bad gateway</body></html>"


@dataclass
class Sent:
    """What a server answers: any status, body and headers.

    announced: bytes beyond the body that are announced and never come. chunked: sent in chunks, of which the last never
    comes. seconds_a_byte: between one byte and the next, until the client has gone.
    """

    body: object = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    announced: int = 0
    chunked: bool = False
    seconds_a_byte: float = 0


HANGS_UP = Sent()  # without a word
RESETS = Sent()  # the connection is torn down


def completion(content="", finish="stop", usage=None, **message):
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {"choices": [choice], **({"usage": usage} if usage else {})}


STATUSES = (408, 409, 425, 429, 500, 501, 502, 503, 504, 511, 520, 521, 522, 523, 524, 529, 530, 599)
PASSING = {
    **{f"{status}": Sent({"error": "busy"}, status, {"Retry-After": "0"}) for status in STATUSES[:9]},
    **{f"{status} with HTML": Sent(HTML, status) for status in STATUSES[9:]},
    "200 with HTML": Sent(HTML),
    "200 with 10 MB of HTML": Sent(HTML + b" " * 10**7),
    "200 with an error": Sent({"error": {"message": "upstream is down"}}),
    "200 with an error's words": Sent({"error": "upstream is down"}),
    "200 with an error beside a text": Sent({"error": {"message": "upstream is down"}} | completion("half")),
    "200 with a status": Sent({"error": {"message": "upstream is down", "code": 502}}),
    "200 with a status in words": Sent({"error": {"message": "upstream is down", "code": "502"}}),
    "200 without choices": Sent({"choices": []}),
    "200 with choices by name": Sent({"choices": {"0": "Yes"}}),
    "200 without a message": Sent({"choices": [{"text": "Yes"}]}),
    "200 with a number as content": Sent(completion(5)),
    "200 with an object as content": Sent(completion({"text": "Yes"})),
    "200 with a text that broke off": Sent(completion("half a te", "abort")),
    "200 with a number of 10,000 digits": Sent(b'{"choices": ' + b"9" * 10**4 + b"}"),
    "200 and nested deeply": Sent(b'{"choices": ' + b"[" * 200_000),
    "200 and no UTF-8": Sent(b"\xff\xfe\x80{}"),
    "200 and empty": Sent(),
    "200 and null": Sent(b"null"),
    "204": Sent(status=204),
    "JSON cut": Sent(b'{"choices": ['),
    "body cut": Sent(b'{"choices": [', announced=100),
    "chunks cut": Sent(json.dumps(completion("half a te")).encode(), chunked=True),
    "no answer": HANGS_UP,
    "reset": RESETS,
}
"""What may be gone when a request is sent again, and says nothing of the request."""


class Faults:
    """answer(body) → what `answer` gives, or for a seeded share of all attempts a fault, each kind in turn.

    answered: how often each last message got an answer that is no fault; met: how often each kind of fault was met.
    of(body): what tells one request from another.
    """

    def __init__(self, answer, share=0.2, kinds=PASSING, seed=0, of=None):
        self._answer, self._share, self._seed, self._of = answer, share, seed, of or last_text
        self.kinds = dict(kinds)
        self.answered, self.met, self._attempts = Counter(), Counter(), Counter()
        self._lock = threading.Lock()

    def __call__(self, body):
        text = self._of(body)
        with self._lock:
            self._attempts[text] += 1
            if random.Random(f"{self._seed} {text} {self._attempts[text]}").random() < self._share:
                kind = list(self.kinds)[self.met.total() % len(self.kinds)]
                self.met[kind] += 1
                return self.kinds[kind]
            self.answered[text] += 1
        return self._answer(body)


def first_option(body):
    """As a model that takes the first option of contact_hypothesis' instruction."""
    instruction = last_text(body).split("Choose between ")[1]
    return f" {instruction.split()[0]}."


def last_text(body):
    """The last message's, without its pictures."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Server(ThreadingHTTPServer):
    """Plays a server: answer(body) → text, or Sent; `models` is what it lists. It notes all that it is asked.

    routes: {path: likewise} of what it has besides chat completions, of which `asked` notes nothing.
    """

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, answer, models, routes=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.models, self.routes = answer, models, routes or {}
        self.asked, self.headers_of, self.paths, self.connections = [], [], [], []

    def get_request(self):
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def go_away(self):
        self.shutdown()
        for each in (self.socket, *self.connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client may hang up
            super().handle_error(request, client_address)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body go apart: else each answer waits 40 ms

    def do_GET(self):
        self.note()
        models = self.server.models
        if not isinstance(models, Sent):
            models = Sent({"object": "list", "data": [{"id": name} for name in models]})
        self.send(models)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note()
        if self.path.split("?")[0].endswith("/chat/completions"):
            self.server.asked.append(body)
            answer = self.server.answer(body)
        else:
            answer = self.server.routes.get(self.path, lambda body: Sent({"detail": "Not Found"}, 404))(body)
        self.send(answer if isinstance(answer, Sent) else Sent(completion(answer)))

    def note(self):
        self.server.paths.append(self.path)
        self.server.headers_of.append(self.headers)

    def send(self, sent):
        if sent is HANGS_UP or sent is RESETS:
            if sent is RESETS:  # what is not sent is thrown away, and the client is told so
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        body = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
        self.send_response(sent.status)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        if sent.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%b\r\n" % (len(body), body)
        elif sent.status != 204:
            self.send_header("Content-Length", len(body) + sent.announced)
        self.end_headers()
        for piece in [body[i : i + 1] for i in range(len(body))] if sent.seconds_a_byte else [body]:
            self.wfile.write(piece)
            time.sleep(sent.seconds_a_byte)
        self.close_connection = self.close_connection or bool(sent.announced) or sent.chunked

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    """start(answer, models) → a running server; all are stopped at the end."""
    running = []

    def start(answer=lambda body: "yes", models=("tiny",), routes=None):
        server = Server(answer, models, routes)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
