"""Errors that a person reads: what came, what is accepted, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class EvenhandError(Exception):
    """Something failed; the message says what to do. The command line exits with 1."""


class UsageError(EvenhandError, ValueError):
    """Something was asked for that does not exist or does not fit. The command line exits with 2."""


def unknown_name(kind: str, came: object, accepted: Sequence[str], hint: str | None = None) -> UsageError:
    """ "unknown benchmark 'labee'; did you mean 'labe'? (evenhand list shows all)"."""
    close = difflib.get_close_matches(came, accepted, n=1) if isinstance(came, str) else []
    told = map(repr, accepted) if any("," in name for name in accepted) else accepted  # where one name ends
    advice = f"did you mean {close[0]!r}?" if close else f"accepted: {', '.join(told) or 'none'}"
    return UsageError(f"unknown {kind} {came!r}; {advice}" + (f" ({hint})" if hint else ""))
