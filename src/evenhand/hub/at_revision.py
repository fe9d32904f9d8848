"""Datasets and metrics of the Hub at the requested revision, and at no other.

`datasets` and `evaluate` take what is in their caches where the Hub does not answer, whatever its revision. So the
revision's commit is looked up first, and what is loaded must be of that commit. With HF_HUB_OFFLINE it is the commit
that the revision was when it was last loaded here.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.errors import EvenhandError
from evenhand.hub.client import patient

if TYPE_CHECKING:
    import datasets
    import evaluate


def commit_at(repo_id: str, repo_type: Literal["dataset", "space"], revision: str) -> str:
    """Return a revision's commit. Raises the client's errors, EvenhandError where the Hub does not answer."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import LocalEntryNotFoundError

    if re.fullmatch("[0-9a-f]{40}", revision):
        return revision
    api = HfApi(library_name="evenhand")
    cached = partial(api.snapshot_download, repo_id, repo_type=repo_type, allow_patterns=["README.md"])
    if constants.HF_HUB_OFFLINE:
        try:
            return Path(cached(revision=revision, local_files_only=True)).name
        except LocalEntryNotFoundError as error:
            raise EvenhandError("it was not loaded here before, and HF_HUB_OFFLINE is set") from error
    ask = partial(api.repo_info, repo_id, repo_type=repo_type, revision=revision)
    commit = str(patient(ask, f"asking for {revision} of {repo_id}").sha)
    cached(revision=revision)  # the cache keeps the revision's commit for when there is no network
    return commit


def metric_at(repo_id: str, revision: str) -> evaluate.Metric:
    """Load a metric. Raises the libraries' errors."""
    import evaluate
    from huggingface_hub import constants, snapshot_download

    folder = snapshot_download(
        repo_id,
        repo_type="space",
        revision=commit_at(repo_id, "space", revision),
        allow_patterns=["*.py"],
        local_files_only=constants.HF_HUB_OFFLINE,
    )
    return evaluate.load(str(Path(folder) / f"{repo_id.partition('/')[2]}.py"), keep_in_memory=True)


def dataset_at(
    repo_id: str, revision: str, config: str | None, split: str | None, streaming: bool
) -> datasets.Dataset | datasets.DatasetDict | datasets.IterableDataset | datasets.IterableDatasetDict:
    """Load a dataset. Raises the libraries' errors, EvenhandError for rows of another commit."""
    import datasets

    commit = commit_at(repo_id, "dataset", revision)
    builder = datasets.load_dataset_builder(repo_id, config, revision=commit)
    if builder.hash != commit:
        raise EvenhandError(f"the rows that are in the cache are of another commit than {commit[:7]}")
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare()
    return builder.as_dataset(split=split)
