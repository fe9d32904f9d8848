"""Datasets and metrics of the Hub at the requested revision, and at no other.

`datasets` and `evaluate` take what is in their caches where the Hub does not answer, whatever its revision. So the
revision's commit is looked up first, and what is loaded must be of that commit. With HF_HUB_OFFLINE it is the commit
that the revision was when it was last loaded here.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.errors import EvenhandError
from evenhand.hub.client import patient

if TYPE_CHECKING:
    import datasets
    import evaluate

RepoType = Literal["dataset", "space"]
_COMMIT = re.compile("[0-9a-f]{40}")
_CARD = "README.md"


def commit_at(repo_id: str, repo_type: RepoType, revision: str) -> str:
    """Return a revision's commit. Raises the client's errors, EvenhandError where the Hub does not answer."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    if _COMMIT.fullmatch(revision):
        return revision
    api = HfApi(library_name="evenhand")
    if constants.HF_HUB_OFFLINE:
        try:
            card = api.hf_hub_download(repo_id, _CARD, repo_type=repo_type, revision=revision, local_files_only=True)
        except LocalEntryNotFoundError as error:
            raise EvenhandError("it was not loaded here before, and HF_HUB_OFFLINE is set") from error
        return Path(card).parent.name
    asked = patient(
        lambda: api.repo_info(repo_id, repo_type=repo_type, revision=revision), f"asking for {revision} of {repo_id}"
    )
    with suppress(EntryNotFoundError):  # so that the revision's commit is known without a network, too
        api.hf_hub_download(repo_id, _CARD, repo_type=repo_type, revision=revision)
    return str(asked.sha)


def metric_at(repo_id: str, revision: str) -> evaluate.Metric:
    """Load a metric. Raises the libraries' errors."""
    import evaluate
    from huggingface_hub import constants, snapshot_download

    commit, offline = commit_at(repo_id, "space", revision), constants.HF_HUB_OFFLINE
    folder = snapshot_download(
        repo_id, repo_type="space", revision=commit, allow_patterns=["*.py"], local_files_only=offline
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
