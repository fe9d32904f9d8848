"""Calls of huggingface_hub: asked again where that does no harm, and errors as sentences in which no token stands.

The client itself asks again when it lists a repository's next pages, sends large files and asks how to send them; all
else it asks once. `patient` is for what may be asked twice; a commit may not be, see publishing.py.
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
FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0  # seconds; the first doubles each time, the Hub's own Retry-After goes before
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_NETWORK = ("httpx", "httpx2", "httpcore", "requests", "urllib3", "socket", "ssl")

logger = logging.getLogger(__name__)


class Unreachable(EvenhandError):
    """No answer came from the Hub, not even a refusal: there's no network, or no server."""


def patient(call: Callable[[], T], what: str, again: Callable[[], T | None] = lambda: None) -> T:
    """The call's answer, asked for TRIES times where faults pass.

    what: "reading dataset lab/labe", for errors. again: after such a fault, what stands in for the answer, as where
    the call was heard and its answer lost; None: ask again. Raises EvenhandError, Unreachable where nothing answered.
    """
    wait = FIRST_WAIT
    for left in range(TRIES - 1, -1, -1):
        try:
            return call()
        except Exception as error:
            if not passes(error):
                raise
            failed = error
        if left:
            asked_to_wait = retry_after(failed)
            if asked_to_wait is not None and asked_to_wait > LONGEST_WAIT:
                raise EvenhandError(f"{what}: the Hub asks to wait {asked_to_wait:.0f} s; try later") from failed
            pause = wait if asked_to_wait is None else asked_to_wait
            logger.warning("%s: %s; asked again in %.0f s", what, told(failed), pause)
            time.sleep(pause)
            wait *= 2
        found = again()
        if found is not None:
            return found
    raised = Unreachable if _unanswered(failed) else EvenhandError
    raise raised(f"{what}: {TRIES} tries in vain, the last with {told(failed)}; try later") from failed


def passes(error: BaseException | None) -> bool:
    """Whether it may be gone the next time: a busy server, a cut connection."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    while error is not None:
        status = status_of(error)
        if status is not None or isinstance(error, OfflineModeIsEnabled):
            return status in _PASSING
        if isinstance(error, (ConnectionError, TimeoutError, json.JSONDecodeError)):
            return True  # the last: the client reads an error's page as JSON
        if type(error).__module__.partition(".")[0] in _NETWORK:
            return True
        error = error.__cause__
    return False


def _unanswered(error: BaseException | None) -> bool:
    """Whether it has no status in all that it came from, and is no answer that can't be read."""
    while error is not None:
        if status_of(error) is not None or isinstance(error, json.JSONDecodeError):
            return False
        error = error.__cause__
    return True


def status_of(error: BaseException) -> int | None:
    """Of an answer that was an error."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def retry_after(error: BaseException) -> float | None:
    """Seconds that the Hub asks to wait; None where it doesn't say.

    It says so in Retry-After, or with 429 in RateLimit ("api";r=0;t=55: none remaining, anew in 55 s; a draft of IETF).
    """
    headers = getattr(getattr(error, "response", None), "headers", {})
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    limit = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("RateLimit", ""))
    return float(limit[1]) + 1 if limit and status_of(error) == 429 else None  # + 1: it is rounded down


def told(error: BaseException) -> str:
    """ "status 403 (you don't have the rights …)", "a connection that broke (…)"."""
    cause: BaseException | None = error
    while cause is not None:
        status = status_of(cause)
        if status is not None:
            said = getattr(cause, "server_message", None) or ""
            return f"status {status}" + (f" ({said.strip()})" if said.strip() else "")
        cause = cause.__cause__
    if isinstance(error, json.JSONDecodeError):
        return "an answer that is no JSON"
    return f"a connection that broke ({type(error).__name__})" if passes(error) else str(error).strip()


@contextmanager
def explained(what: str) -> Iterator[None]:
    """UsageError and EvenhandError in place of the client's errors. what: "publishing dataset lab/labe"."""
    from huggingface_hub import errors

    token()
    try:
        yield
    except EvenhandError:
        raise
    except errors.OfflineModeIsEnabled as error:
        raise UsageError(f"{what}: HF_HUB_OFFLINE keeps everything off the network; unset it") from error
    except errors.LocalTokenNotFoundError as error:
        raise UsageError(f"{what}: {NO_TOKEN}") from error
    except errors.RevisionNotFoundError as error:
        raise EvenhandError(f"{what}: the repository has no such revision") from error
    except (errors.HfHubHTTPError, RuntimeError, ValueError, OSError) as error:
        status = status_of(error)
        if isinstance(error, errors.RepositoryNotFoundError) and status == 404:
            raise EvenhandError(f"{what}: there is no such repository, or the token may not see it") from error
        if status == 401:
            raise UsageError(f"{what}: the Hub does not accept the token; {TOKEN}") from error
        if status == 403:
            raise UsageError(
                f"{what}: the token may not do that, {told(error)}; it needs the right to write there, and --namespace "
                "is a user or an organization that it belongs to"
            ) from error
        if status == 412:
            raise EvenhandError(f"{what}: somebody changed the repository meanwhile; run the command again") from error
        raise EvenhandError(f"{what}: {told(error)}") from error


def token() -> str | None:
    """Wherever the client finds it. Raises UsageError for what no token can be, without showing it."""
    from huggingface_hub import get_token

    found = get_token()
    if found is not None and not re.fullmatch("[!-~]+", found):
        raise UsageError(
            f"the token holds characters that no token has (letters with accents, blanks, line ends); {TOKEN}"
        )
    return found


TOKEN = "it is read from the environment variable HF_TOKEN, or where `hf auth login` put it"
NO_TOKEN = f"a token with the right to write is needed; {TOKEN}"
