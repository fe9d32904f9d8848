"""In what runs differ, and why nothing can be compared where nothing is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.errors import UsageError
from evenhand.flow.configuration import differences
from evenhand.flow.results import Results
from evenhand.report.findings import Run

OF_WHO_ANSWERS = (
    "benchmark", "model", "model_options", "revision", "dtype", "batch_size", "max_failed", "mitigation",
    "mitigation_options",
)  # fmt: skip
"""Settings in which runs of the same rows may differ."""


_THE_MODELS_OWN = ("model", "batch_size", "max_failed", "output")  # the names of models stand in the page anyway


def told(base: Run, other: Run) -> str:
    """Of two runs, the settings in which they differ but for the model: what their difference may be of."""
    first, second = (
        {name: value for name, value in run.results.config.items() if name not in _THE_MODELS_OWN}
        for run in (base, other)
    )
    unlike = "; ".join(differences(first, second))
    return f"{base.letter} and {other.letter} differ in {unlike}." if unlike else ""


def stands_alone(runs: Sequence[Run], paired: Sequence[Run]) -> list[str]:
    """A sentence on each run that is compared with no other."""
    return [
        f"{run.letter} is compared with no other: no run named is alike but for the model and its mitigation. "
        f"{told(runs[0], run)}".strip()
        for run in runs
        if run not in paired
    ]


def nothing_to_compare(runs: Sequence[Run], paired: bool, common: bool) -> UsageError:
    """The settings in which runs differ, but for those that may. paired: whether any two are; common: by rows."""
    folders = " and ".join(str(run.path) for run in runs)
    first, *others = (settings(run.results) for run in runs)
    unlike = "; ".join(dict.fromkeys(each for other in others for each in differences(first, other)))
    if not paired:
        return UsageError(
            f"of {folders} no two are alike but for the model and its mitigation, so none has a base: {unlike}. Name "
            "two to compare them as they are"
        )
    if common:
        return UsageError(f"of {folders} nothing was read in both, so nothing can be compared")
    if unlike:
        return UsageError(
            f"{folders} have no row in common, for they differ in {unlike}; compare runs of the same rows"
        )
    return UsageError(f"{folders} have no row in common, though their settings are alike; run one of them again")


def settings(results: Results) -> dict[str, Any]:
    """Those that decide what is asked, or which texts are scored; of a file, its contents."""
    asked = {name: value for name, value in results.config.items() if name not in OF_WHO_ANSWERS}
    return asked | {"the rows' sha256": (results.rows_sha256 or "")[:12]}
