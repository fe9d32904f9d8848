"""What labe's runs are about: prompts of the packaged dataset, or the texts of a file."""

from __future__ import annotations

from dataclasses import replace

import datasets

from evenhand.benchmark import Card, Rows
from evenhand.benchmarks.labe.options import LabeOptions
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.flow.draw import draw_matched
from evenhand.flow.rows import check_configs, packaged_rows
from evenhand.paths import typed_path

GROUP = ("gender", "race", "group")  # columns of a file's texts


def prompts(card: Card, config: RunConfig[LabeOptions]) -> Rows:
    """Of each configuration all, or a sample in which every group has the same descriptors."""
    if config.options.sample is None:
        return Rows(packaged_rows(card, config))
    check_configs(card, config)
    each = (packaged_rows(card, replace(config, configs=(name,))) for name in config.configs)
    return Rows(datasets.concatenate_datasets([_sampled(rows, config.options.sample, config.seed) for rows in each]))


def _sampled(rows: datasets.Dataset, size: int, seed: int) -> datasets.Dataset:
    try:
        return rows.select(draw_matched(rows["combination"], size, seed))
    except ValueError as error:
        raise UsageError(str(error)) from error


def texts(config: RunConfig[LabeOptions]) -> Rows:
    """Raises UsageError for a file that does not fit, or whose people's groups are all unknown."""
    options = config.options
    path = typed_path(str(options.texts))
    file = read_texts(path, options.columns, options.preprocess, config.seed, options.own_prompts)
    if not file.rows[["gender", "race"]].ne("").any(axis=None):
        raise UsageError(
            f"no text in {path} has a gender or a race that is understood, so no groups can be compared; "
            f"--gender-column and --race-column name theirs. {' '.join(file.notes)}"
        )
    rows = datasets.Dataset.from_pandas(file.rows, preserve_index=False)
    return Rows(rows, file.notes, path.name, file.sha256, design=GROUP, together=())
