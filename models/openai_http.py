"""JSON over HTTP to one server: its URL, the key, patience and limits."""

from __future__ import annotations

import json
import logging
import math
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TypeVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

import httpx
import tenacity

from evenhand.models import api_keys
from evenhand.models.errors import ModelError
from evenhand.models.server_options import DEFAULT_OPTIONS, ServerOptions

T = TypeVar("T")
logger = logging.getLogger(__name__)
for _name in ("httpx", "httpcore.http11"):  # below this level they log a server's own words, which may hold the key
    logging.getLogger(_name).setLevel(logging.WARNING)

_RETRIED = frozenset({408, 409, 425, 429, *range(500, 600)})
_UNABLE = frozenset({500, 501})  # which some give in place of 404 or 400, always
_LONGEST_PAUSE, _LONGEST_CONNECT = 60.0, 30.0  # seconds; answers take longer than connections
_MOST_BYTES = 16 * 1024**2  # of an answer
_EXCERPT, _READ_FOR_EXCERPT = 300, 100_000  # characters
# Their keys go in a header of their own; "Bearer" is for tokens of Entra ID there.
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
# Here a connection was made: something is there.
_BROKEN = (httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.DecodingError)
_certificates = cache(ssl.create_default_context)  # those that this machine trusts, read once


class Stopped(Exception):
    """Whoever asked waits no longer."""


class NeverPassed(ModelError):
    """Asked as often as the options say, and it did not pass. lasting: as of Passing."""

    def __init__(self, words: str, lasting: bool = False):
        super().__init__(words)
        self.lasting = lasting


class Unreachable(ModelError):
    """Nothing was ever reached there."""


class Passing(Exception):
    """What may be gone when asked again.

    pause: the seconds that the server asked to wait. lasting: whether it may as well be how this server answers every
    such request. lost: whether it was sent and may have been answered, to nobody.
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

    The key that stands somewhere for that host is sent there alone, and masked in every message. connections: held open
    at most, from its first question until it is closed. Proxies are taken from the environment, but for this machine
    itself; a .netrc is not. Safe in threads.

    Raises ModelError for other URLs, keys that can't be read or sent, and proxies that can't be used.
    """

    def __init__(self, url: str, options: ServerOptions = DEFAULT_OPTIONS, connections: int = 1):
        parts = _checked(url)
        self.key = api_keys.key_for(parts, options.api_key_env)
        if self.key.stands_in(url):
            raise ModelError(f"the model's URL holds the key in {self.key.source}: leave it out, it is sent by itself")
        self.url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        self._root = self.url.removesuffix("/v1")
        self._query = f"?{parts.query}" if parts.query else ""
        self._options = options
        self._reached = False
        host = parts.hostname or ""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evenhand"}
        headers["Accept-Encoding"] = "identity"  # so that the limit of an answer is one of what is sent
        if secret := self.key.secret:
            headers |= {"api-key": secret} if host.endswith(_AZURE) else {"Authorization": f"Bearer {secret}"}
        try:
            self._client = httpx.Client(
                headers=headers,
                follow_redirects=False,
                timeout=httpx.Timeout(options.timeout, connect=min(options.timeout, _LONGEST_CONNECT), pool=None),
                limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
                trust_env=not api_keys.is_here(host),
                verify=_certificates(),
            )
        except (httpx.InvalidURL, ValueError, ImportError):  # their words may hold a proxy's password
            raise ModelError(
                "the environment's proxies can't be used: http_proxy, https_proxy and all_proxy take http://HOST:PORT "
                "(socks5:// where socksio is installed), no_proxy takes hosts; mend them, or unset them"
            ) from None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def close(self) -> None:
        self._client.close()

    def patiently(self, attempt: Callable[[], T], stop: threading.Event | None = None) -> T:
        """What `attempt` returns, called again while it raises Passing; other errors are raised as they come.

        Between attempts it waits as the server asked, or as the options say, a minute at most then.
        stop: once set, no further attempt is made.

        Raises NeverPassed where it does not pass, or not within the time that a server may be silent, and Stopped where
        `stop` ended the wait.
        """
        stop = stop or threading.Event()
        growing = tenacity.wait_exponential(multiplier=self._options.backoff, max=_LONGEST_PAUSE)
        patience = self._options.timeout

        def pause(state: tenacity.RetryCallState) -> float:
            asked = getattr(state.outcome and state.outcome.exception(), "pause", None)
            return growing(state) if asked is None else float(asked)

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, Passing) and (error.pause or 0) <= patience
            ),
            stop=tenacity.stop_after_attempt(self._options.attempts),
            wait=pause,
            sleep=tenacity.sleep_using_event(stop),
            before_sleep=lambda state: logger.info(
                "%s; again in %.1f s", state.outcome and state.outcome.exception(), state.upcoming_sleep
            ),
            reraise=True,
        )
        try:
            for each in retrying:
                with each:
                    if stop.is_set():
                        raise Stopped
                    found = attempt()
        except Passing as error:
            if (error.pause or 0) <= patience:
                raise NeverPassed(f"{error} (asked {self._options.attempts} times)", error.lasting) from None
            raise NeverPassed(
                f"{error}. It asks to wait {error.pause:,.0f} s, longer than --timeout {patience:g}: give the same "
                "command again then, or now with a larger --timeout; every answer is stored"
            ) from None
        return found

    def ask(self, path: str, body: object = None, *, about: str, beside: bool = False) -> Answer:
        """Once: GET, or POST where there is a body. Any answer but one whose status says that it may pass.

        about: what is asked, for messages. beside: the path stands beside /v1, not in it.
        Raises Passing for those and for broken connections, Unreachable where nothing was ever reached there, and
        ModelError for an answer without end.
        """
        method, content = ("GET", None) if body is None else ("POST", json.dumps(body).encode("ascii"))
        place = self._root if beside else self.url
        read = bytearray()
        try:
            with self._client.stream(method, place + path + self._query, content=content) as response:
                self._reached = True
                began = time.monotonic()
                for piece in response.iter_bytes():
                    read += piece
                    if time.monotonic() - began > self._options.timeout:  # some byte came in time each time
                        raise httpx.ReadTimeout(f"no whole answer in {self._options.timeout:g} s")
                    if len(read) > _MOST_BYTES:
                        raise ModelError(
                            f"{about}: {self.url} answered more than {_MOST_BYTES:,} bytes; no text is so long"
                        )
        except (httpx.RequestError, httpx.InvalidURL, UnicodeError) as error:
            trouble = f"can't reach {self.url}: {self.cleaned(str(error)) or type(error).__name__}"
            if not self._reached:
                trouble += "; does the server run, and is the URL right?"
            if self._reached or isinstance(error, _BROKEN):
                raise Passing(f"{about}: {trouble}", lost=isinstance(error, _BROKEN)) from None
            raise Unreachable(f"{about}: {trouble}") from None
        text = read.decode("utf-8-sig", errors="replace")
        said = _parsed(text)
        answer = Answer(_status(response.status_code, said), said, text, response.headers.get("Location", ""))
        if answer.status in _RETRIED:
            what = f"{about}: {self.url} {self.described(answer)}"
            raise Passing(what, _asked_pause(response.headers), lasting=answer.status in _UNABLE)
        return answer

    def described(self, answer: Answer) -> str:
        """ "answered 404 (Not Found): the server's own words", cut to 300 characters."""
        phrase = httpx.codes.get_reason_phrase(answer.status)
        name = f"{answer.status} ({phrase})" if phrase else f"{answer.status}"
        if 300 <= answer.status < 400:
            return (
                f"answered {name}: it redirects to {self.cleaned(answer.location) or 'nowhere'}, which is not followed,"
                " so that no key goes elsewhere; give the URL that answers itself"
            )
        return f"answered {name}: {self.cleaned(answer.message) or 'no words'}"

    def cleaned(self, text: str) -> str:
        """An excerpt of what a server said: the key masked, control characters out, 300 characters at most."""
        text = " ".join(self.key.masked(text)[:_READ_FOR_EXCERPT].split())
        text = self.key.masked("".join(character for character in text if character.isprintable()))
        return text if len(text) <= _EXCERPT else text[:_EXCERPT] + " …"


def _checked(url: str) -> SplitResult:
    """Raises ModelError, in words that hold no password."""
    accepted = "accepted: http://HOST:PORT/v1, and #NAME after it where several models are served"
    secret = "a key belongs in an environment variable (--api-key-env NAME)"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        raise ModelError(f"the model's URL can't be read; {accepted}") from None
    if "@" in (parts.netloc or url):  # without "//" the password stands elsewhere
        raise ModelError(f"the model's URL holds a user name or password, which is refused: {secret}; {accepted}")
    if {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - {"api-version"}:
        raise ModelError(f"the model's URL holds a query other than api-version, which is refused: {secret}")
    plain = all("!" <= character <= "~" for character in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment or not plain:
        raise ModelError(f"model URL {url!r} came; {accepted}")
    return parts


def _parsed(body: str) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _status(status: int, content: object) -> int:
    """Gateways that began to answer before their server failed say so in the body alone."""
    error = content.get("error") if status == 200 and isinstance(content, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else status


def _asked_pause(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; OpenAI and Azure say it in milliseconds, too, which are finer."""
    finer = _seconds(headers.get("retry-after-ms", ""))
    return _seconds(headers.get("Retry-After", "")) if finer is None else finer / 1000


def _seconds(retry_after: str) -> float | None:
    """Of a Retry-After header: a number, or a date; None where it is neither."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            date = parsedate_to_datetime(retry_after)
        except (ValueError, TypeError, OverflowError):
            return None
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (zoned - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
