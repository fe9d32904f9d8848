"""At which commit a dataset's version is on the Hub: its tag, which evenhand publish sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.hub.client import explained, patient

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun


def dataset_revisions(runs: Sequence[FinishedRun], namespace: str) -> dict[str, str]:
    """{dataset: commit} of the runs' own rows. Raises UsageError for a version that isn't there."""
    asked = {(run.dataset, run.dataset_version) for run in runs if run.packaged}
    found: dict[str, str] = {}
    for dataset, version in sorted(asked, key=str):
        tag = f"v{version}"
        tags = _tags(f"{namespace}/{dataset}")
        if tag not in tags:
            there = ", ".join(sorted(tags)) or "no version"
            raise UsageError(
                f"{namespace}/{dataset} has no version {version} on the Hub (it has {there}), and the run's rows are "
                f"of that; evenhand publish dataset {dataset} --namespace {namespace} publishes this evenhand's"
            )
        if found.setdefault(dataset, tags[tag]) != tags[tag]:
            raise UsageError(f"the runs are of different versions of {dataset}; submit each by itself")
    return found


def _tags(repo_id: str) -> Mapping[str, str]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    what = f"looking for dataset {repo_id}"
    with explained(what):
        try:
            refs = patient(lambda: HfApi(library_name="evenhand").list_repo_refs(repo_id, repo_type="dataset"), what)
        except RepositoryNotFoundError as error:
            raise UsageError(
                f"dataset {repo_id} is not on the Hub, or your token may not see it; --namespace is where the runs' "
                "datasets are published"
            ) from error
        return {each.name: each.target_commit for each in refs.tags}
