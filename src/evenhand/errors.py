"""Errors for users: what is wrong, what was expected, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class EvenhandError(Exception):
    """Something failed; the message says what to do. The command line exits with 1."""


class UsageError(EvenhandError, ValueError):
    """Something was asked for that does not exist or does not fit. The command line exits with 2."""


def unknown_name(kind: str, given: object, accepted: Sequence[str], hint: str | None = None) -> UsageError:
    """Make an error such as "unknown benchmark 'labee'; did you mean 'labe'? (evenhand list shows all)"."""
    close = difflib.get_close_matches(given, accepted, n=1) if isinstance(given, str) else []
    names = map(repr, accepted) if any("," in name for name in accepted) else accepted  # where one name ends
    advice = f"did you mean {close[0]!r}?" if close else f"accepted: {', '.join(names) or 'none'}"
    return UsageError(f"unknown {kind} {given!r}; {advice}" + (f" ({hint})" if hint else ""))


def check_names(of: str, **fields: object) -> None:
    """Raise TypeError unless each field is a tuple of texts: ("meal") without its comma would be four letters."""
    for name, value in fields.items():
        if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
            raise TypeError(f"{of}: {name} must be a tuple of texts, such as ('meal',), got {value!r}")


@contextmanager
def naming_fault(of: object, method: str) -> Iterator[None]:
    """Raise EvenhandError naming the method at fault where another package's code fails; evenhand's own fails as it is.

    of: the object whose method is called.
    """
    try:
        yield
    except EvenhandError:
        raise
    except Exception as error:
        kind = type(of)
        if kind.__module__.startswith("evenhand."):
            raise
        raise EvenhandError(
            f"{kind.__module__}.{kind.__qualname__}.{method} failed: {type(error).__name__}: {error}. Fix it in that "
            "package; replies that were stored are kept"
        ) from error
