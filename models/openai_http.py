"""JSON over HTTP to one server: its URL, the key, patience and limits.

The standard library's client: huggingface_hub's refuses every server where HF_HUB_OFFLINE is set, follows redirects,
and sends the login of the Hub to a server for which no key is given.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import math
import re
import ssl
import threading
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from urllib.error import URLError
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from evenhand.models.errors import ModelError

KEY_VARIABLES = ("EVENHAND_API_KEY", "OPENAI_API_KEY")

logger = logging.getLogger(__name__)

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 60.0  # seconds
_MOST_BYTES = 16 * 1024**2  # of an answer
_EXCERPT, _READ_FOR_EXCERPT = 300, 100_000  # characters
# Their keys go in a header of their own; "Bearer" is for tokens of Entra ID there.
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


class Stopped(Exception):
    """Whoever asked waits no longer."""


@dataclass(frozen=True)
class Answer:
    """content: the JSON of an answer's body, None where it is none; body: its text; location: of a redirect."""

    status: int
    content: object
    body: str
    location: str = ""

    @property
    def error(self) -> dict[str, object]:
        """What the server says of an error, in the form that most have: message, type, code, param."""
        found = self.content.get("error", self.content) if isinstance(self.content, dict) else self.body
        return found if isinstance(found, dict) else {"message": found}

    @property
    def message(self) -> str:
        """Its words, or else the whole body."""
        words = self.error.get("message") or self.error.get("detail")
        return words if isinstance(words, str) else self.body


class JsonServer:
    """url: without user, password, "#", and with no query but Azure's api-version; `url` has no query, no last slash.

    key: sent to that host alone, and cut out of every message. attempts: of one question. backoff: seconds before the
    second attempt, twice as many before each further one. timeout: seconds without a byte of
    an answer.
    Proxies are taken from the environment, but for this machine itself.

    Raises ModelError for other URLs and keys that no header can carry.
    """

    def __init__(self, url: str, key: str = "", *, attempts: int = 6, backoff: float = 1.0, timeout: float = 600.0):
        parts = _checked(url)
        if not all("!" <= character <= "~" for character in key):
            raise ModelError(f"the key in {' or '.join(KEY_VARIABLES)} has spaces or characters that no header takes")
        self.url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        self._query = f"?{parts.query}" if parts.query else ""
        self._key = key
        self._attempts, self._backoff, self._timeout = attempts, backoff, timeout
        self._reached = False
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evenhand"}
        host = parts.hostname or ""
        if key:
            azure = host.endswith(_AZURE)
            self._headers |= {"api-key": key} if azure else {"Authorization": f"Bearer {key}"}
        self._opener = urllib.request.OpenerDirector()  # without handlers of redirects and of errors
        self._opener.add_handler(urllib.request.ProxyHandler({} if _is_here(host) else None))
        if parts.scheme == "http":
            self._opener.add_handler(urllib.request.HTTPHandler())
        else:
            self._opener.add_handler(urllib.request.HTTPSHandler(context=ssl.create_default_context()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def ask(self, path: str, body: object = None, *, about: str, stop: threading.Event | None = None) -> Answer:
        """GET, or POST where there is a body. Any answer but one of those that pass: these are waited out.

        Passing are the statuses 408, 409, 429, 500, 502, 503, 504 and, once the server has been reached, errors of the
        connection. Between attempts it waits as the server's Retry-After says, a minute at most.
        about: what is asked, for messages. stop: once set, no further attempt is made.

        Raises ModelError where it does not pass, Stopped where `stop` ended the wait.
        """
        data = None if body is None else json.dumps(body).encode("ascii")
        stop = stop or threading.Event()
        trouble = ""
        for attempt in range(self._attempts):
            if stop.is_set():
                raise Stopped
            asked_to_wait = None
            try:
                answer, retry_after = self._once(path, data, about)
            except (OSError, HTTPException, ValueError) as error:
                trouble = self._unreachable(error, about)
            else:
                if answer.status not in _RETRIED:
                    return answer
                asked_to_wait = _seconds(retry_after)
                trouble = f"{self.url} {self.described(answer)}"
            if attempt + 1 < self._attempts:
                pause = self._backoff * 2**attempt if asked_to_wait is None else asked_to_wait
                pause = min(pause, _LONGEST_PAUSE)
                logger.info("%s: %s; again in %.1f s", about, trouble, pause)
                stop.wait(pause)
        raise ModelError(f"{about}: {trouble} (asked {self._attempts} times)")

    def described(self, answer: Answer) -> str:
        """ "answered 404 (Not Found): the server's own words", cut to 300 characters."""
        name = f"{answer.status} ({_phrase(answer.status)})" if _phrase(answer.status) else f"{answer.status}"
        if 300 <= answer.status < 400:
            return (
                f"answered {name}: it redirects to {self.cleaned(answer.location) or 'nowhere'}, which is not followed,"
                " so that no key goes elsewhere; give the URL that answers itself"
            )
        return f"answered {name}: {self.cleaned(answer.message) or 'no words'}"

    def cleaned(self, text: str) -> str:
        """An excerpt of what a server said: the key masked, control characters out, 300 characters at most."""
        text = " ".join(text[:_READ_FOR_EXCERPT].split())
        text = "".join(character for character in text if character.isprintable())
        for key in {self._key, quote(self._key, safe="")} - {""}:
            text = re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE)
        return text if len(text) <= _EXCERPT else text[:_EXCERPT] + " …"

    def knows(self, name: str) -> bool:
        """Whether a name holds the key; words as short as "EMPTY", which stand for none, don't count."""
        return len(self._key) >= 8 and self._key in name

    def _once(self, path: str, data: bytes | None, about: str) -> tuple[Answer, str]:
        """An answer of any status, and its Retry-After."""
        request = urllib.request.Request(self.url + path + self._query, data=data, headers=self._headers)
        with closing(self._opener.open(request, timeout=self._timeout)) as response:
            self._reached = True
            read = response.read(_MOST_BYTES + 1)
            if len(read) > _MOST_BYTES:
                raise ModelError(f"{about}: {self.url} answered more than {_MOST_BYTES:,} bytes; no text is so long")
            if response.length:  # the connection ended before the body
                raise IncompleteRead(b"", response.length)
            body = read.decode("utf-8-sig", errors="replace")
            answer = Answer(response.status, _parsed(body), body, response.headers.get("Location", ""))
            return answer, response.headers.get("Retry-After", "")

    def _unreachable(self, error: Exception, about: str) -> str:
        """In words, if it may pass. Raises ModelError where it won't, or where nothing was ever reached there."""
        cause = error.reason if isinstance(error, URLError) else error
        words = self.cleaned(str(cause)) or type(cause).__name__
        trouble = f"can't reach {self.url}: {words}"
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ModelError(f"{about}: {trouble}") from None
        if not self._reached:
            raise ModelError(f"{about}: {trouble}; does the server run, and is the URL right?") from None
        return trouble


def _checked(url: str) -> SplitResult:
    """Raises ModelError, in words that hold no password."""
    accepted = "accepted: http://HOST:PORT/v1, and #NAME after it where several models are served"
    secret = f"a key belongs in the environment variable {KEY_VARIABLES[0]}"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        raise ModelError(f"the model's URL can't be read; {accepted}") from None
    if "@" in parts.netloc:
        raise ModelError(f"the model's URL holds a user name or password, which is refused: {secret}; {accepted}")
    if {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - {"api-version"}:
        raise ModelError(f"the model's URL holds a query other than api-version, which is refused: {secret}")
    plain = all("!" <= character <= "~" for character in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment or not plain:
        raise ModelError(f"model URL {url!r} came; {accepted}")
    return parts


def _is_here(host: str) -> bool:
    """Whether it is this machine, which no proxy reaches."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _parsed(body: str) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _seconds(retry_after: str) -> float | None:
    """Of a Retry-After header: a number, or a date; None where it is neither."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            date = parsedate_to_datetime(retry_after)
        except (ValueError, TypeError, OverflowError):
            return None
        zoned = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
        seconds = (zoned - datetime.now(timezone.utc)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
