"""What several runs' answers have in common: "a consensus (intersection) of the responses from all three models"
(Measuring Stereotypical Bias in Multi-modal Large Language Models, section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.errors import UsageError
from evenhand.report.findings import Run

OUTCOMES = ("agreed", "disagreed", "unread")

ASKED = ("config", "pair", "instance", "candidates", "age", "shared")
"""What makes queries of one id the same; prompts may differ by a role or a mitigation's prefix."""


def consensus(members: Sequence[Run]) -> pd.DataFrame:
    """Predictions on the queries that all members have, in the first one's order.

    `consensus` is "unread" where a member's answer is, "agreed" where all chose the same group, else "disagreed";
    `chosen` and `side` are null unless agreed. text: each member's answer as it was read.
    Raises UsageError where no query is common, or one was shown otherwise to some.
    """
    common = set.intersection(*(set(member.predictions["id"]) for member in members))
    if not common:
        folders = " and ".join(str(member.path) for member in members)
        raise UsageError(
            f"{folders} have no query in common; run them with the same --config, --limit, --seed and pictures"
        )
    ids = [each for each in members[0].predictions["id"] if each in common]
    asked = [member.predictions.set_index("id").loc[ids].astype(object) for member in members]
    _refuse_other_queries(members, asked)
    chosen = pd.concat([each["chosen"] for each in asked], axis=1, keys=[member.letter for member in members])
    read = chosen.notna().all(axis=1)
    agreed = read & chosen.eq(chosen.iloc[:, 0], axis=0).all(axis=1)
    accounts = ([f"{letter}: {group}" for letter, group in zip(chosen, row)] for row in chosen.fillna("unread").values)
    shares = [each["real_shares"] for each in asked if "real_shares" in each]
    first = asked[0].assign(real_shares=shares[0]) if shares else asked[0]
    return first.assign(
        rehearsal=np.any([each["rehearsal"].astype(bool) for each in asked], axis=0),
        text=["; ".join(account) for account in accounts],
        finish_reason=None,
        side=first["side"].where(agreed),
        chosen=first["chosen"].where(agreed),
        consensus=np.select([agreed, read], OUTCOMES[:2], OUTCOMES[2]),
    ).reset_index()


def comparable(value: Any) -> Any:
    """Lists as tuples; a value that is missing is None, however it was stored."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(value)
    return None if pd.isna(value) else value


def _refuse_other_queries(members: Sequence[Run], asked: Sequence[pd.DataFrame]) -> None:
    for column in ASKED:
        first, *others = ([comparable(value) for value in each[column]] for each in asked)
        for member, other in zip(members[1:], others):
            for name, one, another in zip(asked[0].index, first, other):
                if one != another:
                    raise UsageError(
                        f"{members[0].path} and {member.path} were not shown the same: in {name}, {column} is "
                        f"{_shown(one)} and {_shown(another)}; run them with the same pictures and --seed"
                    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
