"""Results of a base are not those of what was tuned from it, whoever says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.client import explained, patient
from evenhand.hub.submission.identity import is_that_model
from evenhand.training_record import RECORD, base_version

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun


def refuse_base(runs: Sequence[FinishedRun], model_id: str) -> None:
    """Raises UsageError for a run of the very weights that the model's training.json on the Hub names as its base."""
    named_otherwise = [run for run in runs if not is_that_model(run, model_id)]
    tuned_from = base_version(_record(model_id)) if named_otherwise else None
    for run in named_otherwise:
        if tuned_from is not None and base_version({"base": {"identity": run.results.model_identity}}) == tuned_from:
            raise UsageError(
                f"{run.name} asked the base that {model_id} was tuned from (version {tuned_from} by its {RECORD}), "
                "whose results are not its own; name the run of the tuned model"
            )


def _record(model_id: str) -> dict[str, Any]:
    """Empty where there is none, or none that can be read; of a model that isn't there, publishing says so."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    what = f"reading {RECORD} of {model_id}"
    with explained(what):
        try:
            api = HfApi(library_name="evenhand")
            path = patient(lambda: api.hf_hub_download(model_id, RECORD), what)
            found = json.loads(Path(path).read_text(encoding="utf-8"))
        except (EntryNotFoundError, RepositoryNotFoundError, ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}
