"""Logs requests that a model can't answer, and makes their replies."""

from __future__ import annotations

import logging
from collections import Counter

from evenhand.models.errors import Unanswerable
from evenhand.models.request import FinishReason, Reply, Request

logger = logging.getLogger(__name__)

NAMED = 3  # requests of each reason: a run may have thousands


class Failures:
    """Counts one model's failures by reason; identity: its name in the log."""

    def __init__(self, identity: str):
        self._identity = identity
        self._counts: Counter[FinishReason] = Counter()

    def reply(self, request: Request, error: Unanswerable) -> Reply:
        self._counts[error.reason] += 1
        if self._counts[error.reason] <= NAMED:
            logger.warning("%s: request %r is not answered (%s): %s", self._identity, request.name, error.reason, error)
        elif self._counts[error.reason] == NAMED + 1:
            logger.warning("%s: further requests are not answered (%s)", self._identity, error.reason)
        return Reply.failure(error.reason, request)
