"""Call huggingface_hub: retry where that does no harm, and raise errors as sentences without a token.

The client itself retries listings and uploads of large files, but not `create_commit`, for one.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from evenhand.errors import EvenhandError, UsageError

T = TypeVar("T")

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0  # seconds; the first doubles each time, unless the Hub says how long to wait
_TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
_NETWORK = ("httpx", "httpx2", "httpcore", "requests", "urllib3", "socket", "ssl")  # packages of network errors
TOKEN = "it is read from the environment variable HF_TOKEN, or from where `hf auth login` put it"
NO_TOKEN = f"a token with the right to write is needed; {TOKEN}"

logger = logging.getLogger(__name__)


class Unreachable(EvenhandError):
    """The Hub did not answer: there is no network, or no server."""


class Offline(Unreachable, UsageError):
    """HF_HUB_OFFLINE is set."""


def patient(call: Callable[[], T], what: str) -> T:
    """Return what the call returns, after up to TRIES attempts where errors are temporary.

    what: such as "reading dataset lab/labe", for errors. Raises EvenhandError, Unreachable where nothing answered.
    """
    for attempt in range(TRIES):
        try:
            return call()
        except Exception as error:
            if not _is_temporary(error):
                raise
            failed = error
        if attempt < TRIES - 1:
            requested = _requested_pause(failed)
            pause = FIRST_WAIT * 2**attempt if requested is None else min(requested, LONGEST_WAIT)
            logger.warning("%s: %s; retrying in %.0f s", what, _describe(failed), pause)
            time.sleep(pause)
    is_answer = _status(failed) is not None or isinstance(failed, json.JSONDecodeError)
    raise (EvenhandError if is_answer else Unreachable)(
        f"{what}: failed after {TRIES} attempts, the last with {_describe(failed)}; try later"
    ) from failed


def _is_temporary(error: BaseException) -> bool:
    """Return whether a later attempt may succeed: a busy server, a cut connection."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    status = _status(error)
    if status is not None:
        return status in _TEMPORARY
    return any(  # the client reads the page of a server's error as JSON
        isinstance(each, (ConnectionError, TimeoutError, json.JSONDecodeError))
        or type(each).__module__.partition(".")[0] in _NETWORK
        for each in _causes(error)
        if not isinstance(each, OfflineModeIsEnabled)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    """Return the status of an answer that is an error; None where nothing answered."""
    found = (getattr(getattr(each, "response", None), "status_code", None) for each in _causes(error))
    return next((status for status in found if isinstance(status, int)), None)


def _requested_pause(error: BaseException) -> float | None:
    """Return the seconds that the Hub asks to wait; None where it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    if headers.get("Retry-After", "").strip().isdecimal():
        return float(headers["Retry-After"])
    limit = re.search(r";r=0;t=(\d+)", headers.get("RateLimit", ""))  # as '"api";r=0;t=55': 0 remain, more in 55 s
    return float(limit[1]) + 1 if limit else None  # the Hub rounds down


def _describe(error: BaseException) -> str:
    """Return "status 403 (you don't have the rights …)", or what happened to the connection."""
    status = _status(error)
    if status is not None:
        said = next((text for each in _causes(error) if (text := getattr(each, "server_message", None))), "").strip()
        return f"status {status} ({said})" if said else f"status {status}"
    if isinstance(error, json.JSONDecodeError):
        return "an answer that is not JSON"
    return f"a broken connection ({type(error).__name__})" if _is_temporary(error) else str(error).strip()


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise UsageError or EvenhandError in place of the client's errors. what: "publishing dataset lab/labe"."""
    from huggingface_hub import errors

    token()
    try:
        yield
    except EvenhandError:
        raise
    except errors.OfflineModeIsEnabled as error:
        raise Offline(f"{what}: HF_HUB_OFFLINE keeps everything off the network; unset it") from error
    except (errors.HfHubHTTPError, RuntimeError, ValueError, OSError) as error:
        status = _status(error)
        if status == 401:
            raise UsageError(f"{what}: the Hub does not accept the token; {TOKEN}") from error
        if status == 403:
            raise UsageError(f"{what}: {_describe(error)}; use a token with the right to write there") from error
        if status == 412:
            raise EvenhandError(f"{what}: the repository was changed in the meantime; run the command again") from error
        raise EvenhandError(f"{what}: {_describe(error)}") from error


def token() -> str | None:
    """Return the token that the client finds. Raises UsageError for what can't be one, without showing it."""
    from huggingface_hub import get_token

    found = get_token()
    if found is not None and not re.fullmatch("[!-~]+", found):
        raise UsageError(f"the token holds characters that no token has (accents, spaces, line ends); {TOKEN}")
    return found
