"""The rows that a run asks: those of its configurations, or a draw of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, UsageError, naming_fault, unknown_name

CROSSED = " × "
"""Between columns of a card's design whose crossings keep their proportions, too."""

if TYPE_CHECKING:
    import datasets

    from evenhand.benchmark import Benchmark, Card, Row, Rows
    from evenhand.flow.configuration import RunConfig


def packaged_rows(
    card: Card, config: RunConfig[Any], options: Mapping[str, Mapping[str, object]] | None = None
) -> datasets.Dataset:
    """Load all rows of the configurations of a packaged dataset, one after another.

    options: of `evenhand.load_dataset`, for each configuration. Raises UsageError for unknown names, and EvenhandError
    for data that can't be loaded.
    """
    import datasets

    check_configs(card, config)
    parts = [load_config(card, name, config.source, (options or {}).get(name, {})) for name in config.configs]
    rows = datasets.concatenate_datasets(parts)
    if not len(rows):
        raise UsageError(
            f"{card.name} ({', '.join(config.configs)}) has no rows; install evenhand again, or rebuild its data"
        )
    return rows


def each_row(rows: datasets.Dataset, at_once: int) -> Iterator[Row]:
    """Iterate over rows, reading `at_once` at a time: reading one at a time takes longer than asking it."""
    for some in rows.iter(at_once):
        names = list(some)
        for values in zip(*some.values()):
            yield dict(zip(names, values))


def n_clusters(rows: datasets.Dataset, card: Card) -> int:
    """Count clusters. Each row is its own where the cluster is known only from the answer."""
    return len(rows.unique(card.cluster if card.cluster in rows.column_names else "id"))


def check_configs(card: Card, config: RunConfig[Any]) -> None:
    """Raise UsageError for an unknown configuration, or one that is named twice."""
    for name in config.configs:
        if name not in card.configs:
            raise unknown_name(f"configuration of {card.name}", name, card.configs)
    if len(set(config.configs)) < len(config.configs):
        raise UsageError(f"a configuration is named twice: {', '.join(config.configs)}")


def load_config(card: Card, config: str, source: str, options: Mapping[str, object]) -> datasets.Dataset:
    """Load one configuration. Raises EvenhandError where that fails."""
    from datasets.exceptions import DatasetsError

    from evenhand.library import load_dataset

    try:
        return load_dataset(card.dataset, config, split=card.split, source=source, revision=None, **options)
    except EvenhandError:
        raise
    except (OSError, ValueError, DatasetsError) as error:
        raise EvenhandError(f"can't load {card.dataset} ({config}, source {source}): {error}") from error


def drawn_rows(benchmark: Benchmark[Any], config: RunConfig[Any]) -> Rows:
    """Load a benchmark's rows and draw `limit` of them. Raises UsageError for a limit beyond the rows."""
    from dataclasses import replace

    from evenhand.flow.draw import draw, draw_together

    with naming_fault(benchmark, "load"):
        loaded = benchmark.load(config)
        columns = getattr(getattr(loaded, "rows", None), "column_names", None)
        if columns is None or not len(loaded.rows):
            raise TypeError(f"it must return Rows(dataset), with a row or more, got {loaded!r}")
        if "id" not in columns:
            raise TypeError(f"rows need a column 'id', got {', '.join(columns)}")
    design = benchmark.card.design if loaded.design is None else loaded.design
    together = benchmark.card.together if loaded.together is None else loaded.together
    if config.limit is None:
        return replace(loaded, rows=loaded.arranged(loaded.rows))
    columns = [column for name in design for column in name.split(CROSSED)]
    table = loaded.rows.select_columns(list(dict.fromkeys((*columns, *together)))).to_pandas()
    for name in design:
        first, *others = name.split(CROSSED)
        if others:
            table[name] = table[first].astype(str).str.cat([table[other].astype(str) for other in others], CROSSED)
    try:
        if together:
            places = draw_together(table[[*design]], table[[*together]], config.limit, config.seed)
        else:
            places = draw(table[[*design]], config.limit, config.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return replace(loaded, rows=loaded.arranged(loaded.rows.select(places)), drawn_from=len(loaded.rows))
