"""Why runs can't be compared, where nothing is left to compare: what stands between them, or that nothing was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.errors import UsageError
from evenhand.flow.configuration import differences
from evenhand.report.findings import Run

OF_WHO_ANSWERS = (
    "benchmark", "model", "model_options", "revision", "dtype", "batch_size", "max_failed", "mitigation",
    "mitigation_options",
)  # fmt: skip
"""Settings in which runs of the same rows may differ."""


def nothing_to_compare(runs: Sequence[Run], paired: bool, common: bool) -> UsageError:
    """The settings in which runs differ, but for those that may. paired: whether any two are; common: by rows."""
    folders = " and ".join(str(run.path) for run in runs)
    first, *others = (_settings(run) for run in runs)
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


def _settings(run: Run) -> dict[str, Any]:
    """Those that decide what is asked, or which texts are scored; of a file, its contents."""
    config = run.results.config
    asked = {name: value for name, value in config.items() if name not in OF_WHO_ANSWERS}
    return asked | {"the rows' sha256": (run.results.rows_sha256 or "")[:12]}
