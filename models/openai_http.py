"""JSON over HTTP to one server: its URL and key, retries and limits."""

from __future__ import annotations

import json
import logging
import math
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TypeVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

import httpx

from evenhand.models import api_keys
from evenhand.models.errors import ModelError
from evenhand.models.server_options import DEFAULT_OPTIONS, ServerOptions

T = TypeVar("T")
logger = logging.getLogger(__name__)
for _name in ("httpx", "httpcore.http11"):  # below this level they log a server's own words, which may hold the key
    logging.getLogger(_name).setLevel(logging.WARNING)

_RETRIED = frozenset({408, 409, 425, 429, *range(500, 600)})
_UNABLE = frozenset({500, 501})  # some servers always give these in place of 404 or 400
_NO_CREDIT = frozenset({"insufficient_quota", "billing_not_active", "exceeded_current_quota_error"})  # with status 429
_LONGEST_PAUSE, _LONGEST_CONNECT = 60.0, 30.0  # seconds
_QUIET_FOR = 5.0  # seconds between two messages about retries: many requests may fail together
_MOST_BYTES = 16 * 1024**2  # of an answer
_EXCERPT, _READ_FOR_EXCERPT = 300, 100_000  # characters
# Their keys go in a header of their own; "Bearer" is for tokens of Entra ID there.
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
# After these the server may have read the request and answered it.
_BROKEN = (httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError)
_certificates = cache(ssl.create_default_context)


class Stopped(Exception):
    """The caller no longer waits for an answer."""


class RetriesExhausted(ModelError):
    """Every attempt failed; the last one's Retryable is its cause."""


class Unreachable(ModelError):
    """No connection to the server was ever made."""

    pause, lost = None, False


class Retryable(Exception):
    """A failed attempt after which another may succeed.

    pause: seconds that the server asked to wait. lasting: whether the server may answer every such request so.
    lost: whether the request was sent, so that its answer may have been paid for.
    """

    def __init__(self, words: str, pause: float | None = None, *, lasting: bool = False, lost: bool = False):
        super().__init__(words)
        self.pause, self.lasting, self.lost = pause, lasting, lost


@dataclass(frozen=True)
class Answer:
    """content: the JSON of an answer's body, None where it is none; body: its text; location: of a redirect."""

    status: int
    content: object
    body: str
    location: str = ""

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def error(self) -> dict[str, object]:
        """The error in the form that most servers have: message, type, code, param."""
        content = self.content[0] if isinstance(self.content, list) and len(self.content) == 1 else self.content
        found = content.get("error", content) if isinstance(content, dict) else self.body
        return found if isinstance(found, dict) else {"message": found}

    @property
    def message(self) -> str:
        """The error's words, or else the whole body."""
        words = self.error.get("message") or self.error.get("detail")
        return words if isinstance(words, str) else self.body

    @property
    def says_no_credit(self) -> bool:
        return any(isinstance(each, str) and each in _NO_CREDIT for each in map(self.error.get, ("code", "type")))


class JsonServer:
    """A server at a URL without user, password, "#", and query (but for Azure's api-version). Safe in threads.

    The host's own key is sent to it alone, and masked in every message. Proxies are taken from the environment, except
    for this machine; a .netrc is not read.

    Raises:
        ModelError: for other URLs, keys that can't be read or sent, and proxies that can't be used.
    """

    def __init__(self, url: str, options: ServerOptions = DEFAULT_OPTIONS):
        parts = _checked(url)
        self.key = api_keys.key_for(parts, options.api_key_env)
        self.url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        self._root = self.url.removesuffix("/v1")
        self._query = f"?{parts.query}" if parts.query else ""
        self._options = options
        self._reached = False
        self._said = -math.inf
        host = parts.hostname or ""
        # Without encodings the limit of an answer's size is one of what is sent.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "evenhand"}
        if secret := self.key.secret:
            headers |= {"api-key": secret} if host.endswith(_AZURE) else {"Authorization": f"Bearer {secret}"}
        try:
            self._client = httpx.Client(
                headers=headers | {"Content-Type": "application/json"},
                follow_redirects=False,
                timeout=httpx.Timeout(options.timeout, connect=min(0.9 * options.timeout, _LONGEST_CONNECT), pool=None),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                trust_env=not api_keys.is_local(host),
                verify=_certificates(),
            )
        except (httpx.InvalidURL, ValueError, ImportError):  # their words may hold a proxy's password
            proxies = "http_proxy, https_proxy and all_proxy take http://HOST:PORT, no_proxy takes hosts"
            raise ModelError(f"the environment's proxies can't be used: {proxies}; fix or unset them") from None

    def close(self) -> None:
        self._client.close()

    def patiently(self, attempt: Callable[[], T], stop: threading.Event | None = None) -> T:
        """Return what `attempt` returns, calling it again while it raises Retryable; each pause is logged.

        Pauses are as long as the server asked, or as the options say, a minute at most then.

        Args:
            stop: once set, no further attempt is made.

        Raises:
            RetriesExhausted: no attempt succeeded, or the server asks to wait longer than the timeout.
            Stopped: `stop` was set.
        """
        stop = stop or threading.Event()
        options = self._options
        for number in range(1, options.attempts + 1):
            if stop.is_set():
                raise Stopped
            try:
                return attempt()
            except Retryable as error:
                asked, pause = error.pause, min(options.backoff * 2.0 ** (number - 1), _LONGEST_PAUSE)
                if asked is not None and asked > options.timeout:
                    wait = f"The server asks to wait {asked:,.0f} s, longer than --timeout {options.timeout:g}"
                    later = "run the same command again then, or now with a larger --timeout"
                    raise RetriesExhausted(f"{error}. {wait}: {later}") from error
                if number == options.attempts:
                    raise RetriesExhausted(f"{error} (attempts: {number})") from error
                pause = pause if asked is None else asked
                if time.monotonic() >= self._said + _QUIET_FOR:
                    self._said = time.monotonic()
                    logger.warning("%s; next attempt in %.1f s (%d of %d)", error, pause, number + 1, options.attempts)
                stop.wait(pause)
        raise AssertionError("options.attempts is 1 or more")

    def ask(self, path: str, body: object = None, *, about: str, beside: bool = False) -> Answer:
        """Send one request (GET, or POST where there is a body) and read its answer, within the timeout.

        Args:
            about: what is asked, for messages.
            beside: whether the path stands next to /v1, not in it.

        Raises:
            Retryable: the status or a broken connection says that another attempt may succeed.
            Unreachable: no connection was ever made.
            ModelError: the answer has no end.
        """
        method, content = ("GET", None) if body is None else ("POST", json.dumps(body).encode("ascii"))
        url = (self._root if beside else self.url) + path + self._query
        try:
            status, headers, read = self._within_timeout(lambda: self._send(method, url, content))
        except (httpx.RequestError, httpx.InvalidURL, UnicodeError) as error:
            broken = isinstance(error, _BROKEN)
            trouble = f"can't reach {self.url}: {self.cleaned(str(error)) or type(error).__name__}"
            if self._reached or broken:
                self._reached = True
                raise Retryable(f"{about}: {trouble}", lost=broken) from None
            raise Unreachable(f"{about}: {trouble}; does the server run, and is the URL right?") from None
        if len(read) > _MOST_BYTES:
            raise ModelError(f"{about}: {self.url} answered more than {_MOST_BYTES:,} bytes")
        text = read.decode("utf-8-sig", errors="replace")
        said = _parsed(text)
        answer = Answer(_status(status, said), said, text, headers.get("Location", ""))
        if answer.status in _RETRIED and not answer.says_no_credit:
            what = f"{about}: {self.url} {self.described(answer)}"
            raise Retryable(what, _seconds(headers.get("Retry-After", "")), lasting=answer.status in _UNABLE)
        return answer

    def check(self, answer: Answer, about: str) -> None:
        """Raise ModelError for any status but 2xx, with what to do where that is known."""
        if answer.good:
            return
        key = api_keys.advise(self.key)
        advice = {
            401: key,
            403: key,
            404: "does the URL end where its API begins (…/v1), and does it serve the model named after #?",
            429: "the account has no credit left",
        }.get(answer.status)
        raise ModelError(f"{about}: {self.url} {self.described(answer)}{f'; {advice}' if advice else ''}")

    def described(self, answer: Answer) -> str:
        """ "answered 404 (Not Found): the server's own words", cut to 300 characters."""
        phrase = httpx.codes.get_reason_phrase(answer.status)
        name = f"{answer.status} ({phrase})" if phrase else f"{answer.status}"
        if 300 <= answer.status < 400:  # a key goes to its own host alone
            target = self.cleaned(answer.location) or "nowhere"
            return f"answered {name}: it redirects to {target}, which is not followed; give the final URL"
        return f"answered {name}: {self.cleaned(answer.message) or 'no words'}"

    def cleaned(self, text: str) -> str:
        """An excerpt of what a server said: control characters removed, the key masked, 300 characters at most."""
        text = " ".join(text[:_READ_FOR_EXCERPT].split())
        text = self.key.masked("".join(character for character in text if character.isprintable()))
        return text if len(text) <= _EXCERPT else text[:_EXCERPT] + " …"

    def _send(self, method: str, url: str, content: bytes | None) -> tuple[int, Mapping[str, str], bytearray]:
        """Status, headers and body, whose end is missing where it exceeds _MOST_BYTES. Raises httpx.RequestError."""
        read = bytearray()
        with self._client.stream(method, url, content=content) as response:
            self._reached = True
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise httpx.RemoteProtocolError("its answer is compressed, which was not asked for")
            for piece in response.iter_raw():
                read += piece
                if len(read) > _MOST_BYTES:
                    break
        return response.status_code, response.headers, read

    def _within_timeout(self, send: Callable[[], T]) -> T:
        """Call it in a thread, which is left alone once time is up: bytes that trickle in one by one never end."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(send())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            return future.result(self._options.timeout)
        except TimeoutError:
            raise httpx.ReadTimeout(f"timed out: no whole answer in {self._options.timeout:g} s") from None


def _checked(url: str) -> SplitResult:
    """Raises ModelError, in words that hold no password."""
    expected = (
        "expected http://HOST:PORT/v1, and #NAME after it where several models are served; no user name, password or "
        "query but api-version (a key belongs in an environment variable: --api-key-env NAME)"
    )
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        raise ModelError(f"the model's URL can't be read; {expected}") from None
    secret = "@" in (parts.netloc or url) or {name for name, _ in parse_qsl(parts.query, True)} - {"api-version"}
    plain = all("!" <= character <= "~" for character in url)
    if secret or parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment or not plain:
        raise ModelError(f"the model's URL {'is refused' if secret else repr(url)}; {expected}")
    return parts


def _parsed(body: str) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _status(status: int, content: object) -> int:
    """The status: gateways that began to answer before their server failed give it in the body alone."""
    error = content.get("error") if status == 200 and isinstance(content, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else status


def _seconds(retry_after: str) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date; None where it is neither."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
