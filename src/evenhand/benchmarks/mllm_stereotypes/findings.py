"""What a run of mllm_stereotypes found: Table 2 and Figures 3 to 6 of Jiang et al., measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks.mllm_stereotypes.configs import REHEARSAL_NOTE, in_words
from evenhand.benchmarks.mllm_stereotypes.plots import plots
from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters

SCORES = {"association_score": "association score", "association_score_answered": "unread left out"}
DIGITS = 4
EXAMPLES_A_CONFIG = 6
ONE_SIDED = 0.75  # share of answers at one place
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    asked = {instance: place for place, instance in enumerate(predictions["instance"].unique())}
    configs = {config: _in_order(of, asked) for config, of in metrics["configs"].items()}
    shares: Mapping[str, Mapping[str, float]] = metrics.get("real_shares", {})
    return Findings(
        sentences=(
            *((f"This is {REHEARSAL_NOTE}.",) if metrics["rehearsal"] else ()),
            *_consensus_sentence(metrics),
            *(_sentence(results.model_name, config, of) for config, of in configs.items()),
            *_one_sided(configs),
        ),
        tables=(
            _table_2(results),
            *_consensus_table(metrics),
            _limits(configs),
            *(_rates(config, of, shares, predictions) for config, of in configs.items()),
        ),
        exploratory=tuple(_exploratory(configs)),
        plots=tuple(plot for config, of in configs.items() for plot in plots(config, of, shares)),
        examples=tuple(_examples(predictions, "no consensus" if "consensus" in metrics else "unread")),
        warnings=(
            *(note for note in metrics["warnings"] if note != REHEARSAL_NOTE),
            *_of_others(results),
        ),
    )


def _of_others(results: Results) -> Iterator[str]:
    if (results.option("faces") and not results.metrics["rehearsal"]) or results.option("images"):
        yield "this report shows some of the pictures that were given: share it as their terms allow"


def _in_order(of: Metrics, asked: Mapping[str, int]) -> Metrics:
    """With instances as they were asked about, which is the paper's order."""
    rates = of["selection_rates"]
    return {**of, "selection_rates": {name: rates[name] for name in sorted(rates, key=asked.__getitem__)}}


def _sentence(model: str, config: str, of: Metrics) -> str:
    score, answered = (figure(of[key], interval(of, key), DIGITS) for key in SCORES)
    about = named_clusters(of, "picture", f" or pair{'s' * (of['n_clusters'] != 1)}")
    if not of["n_read"]:
        none = f"for none of {of['n']:,} answers was read (about {about})"
        return f"{in_words(config)}: {model} has no association score, {none}."
    return (
        f"{in_words(config)}: {model} has an association score of {score}; random answers would have "
        f"{figure(of['chance_score'], digits=DIGITS)}, the most lopsided {figure(of['maximum_score'], digits=DIGITS)}. "
        f"Unread answers left out: {answered} ({of['n']:,} asked about {about}, "
        f"{100 * of['unread_rate']:.1f} percent unread)."
    )


def _one_sided(configs: Mapping[str, Metrics]) -> Iterator[str]:
    """A model that looks at the place and not at the person has the best score, and nothing to show for it."""
    for config, of in configs.items():
        ends = of.get("intervals", {}).get("position_sensitivity") or [None, None]
        if None not in ends and (ends[0] > ONE_SIDED - 0.5 or ends[1] < 0.5 - ONE_SIDED):
            side = "left" if ends[0] > 0 else "right"
            yield (
                f"{in_words(config)}: the answers name the {side} side {figure(50 + 100 * _size(of))} percent of the "
                "time, whoever is there: a low score says little then."
            )
        share, places = of.get("first_listed_share"), len(_groups(of))
        if share is not None and share > ONE_SIDED:
            yield (
                f"{in_words(config)}: the answers take the first term listed {100 * share:.1f} percent of the time, of "
                f"{places}, whatever is shown: a low score says little then."
            )


def _size(of: Metrics) -> float:
    return abs(float(of["position_sensitivity"]))


def _consensus_sentence(metrics: Metrics) -> Iterator[str]:
    if "consensus" in metrics:
        of = metrics["consensus"]
        members = ", ".join(f"{each['letter']}: {each['model_name']} ({each['path']})" for each in metrics["members"])
        yield (
            f"Consensus of {len(metrics['members'])} runs ({members}): on {of['agreed']:,} of {of['n']:,} queries all "
            f"chose the same group, on {of['disagreed']:,} not, and on {of['unread']:,} an answer is unread. What has "
            "no consensus counts as unread."
        )


def _consensus_table(metrics: Metrics) -> Iterator[Table]:
    if "consensus" in metrics:
        names = ("agreed", "disagreed", "unread")
        rows = tuple(
            (
                Cell(in_words(config)),
                Cell(f"{of['n']:,}"),
                *(Cell(f"{of[name]:,} ({100 * of[name] / of['n']:.1f} %)") for name in names),
            )
            for config, of in metrics["consensus"]["configs"].items()
        )
        note = (
            "Unread: by one run or more. Agreement alone makes preferences stronger: two runs that each choose a group "
            "60 % of the time, independently, agree on it in 36 of 52 agreements, 69 %."
        )
        yield Table("Consensus", ("scenario, attribute", "n", *names), rows, note)


def _table_2(results: Results) -> Table:
    """The paper's Table 2, measured; published figures below where the protocol is the paper's."""
    rows, published = [], results.published
    for config, of in results.metrics["configs"].items():
        scores = (figure(of[key], interval(of, key), DIGITS) for key in SCORES)
        chance = figure(of["chance_score"], digits=DIGITS)
        rows.append((Cell(in_words(config)), *map(Cell, scores), Cell(chance), *_counts(of)))
        for model, printed in published.get("figures", {}).items():
            if config in printed:
                texts = ("" if printed[config][key] is None else f"{printed[config][key]:.4f}" for key in SCORES)
                rows.append(tuple(Cell(text, published=True) for text in (f" {model}, published", *texts, "", "", "")))
    columns = ("scenario, attribute", *SCORES.values(), "chance", "n (clusters)", "unread %")
    note = (
        f"{results.model_name}. 0: groups are chosen alike. Brackets: 95 % interval, of pictures or faces drawn "
        "anew, less noise. Chance: of answers at random, as dependent on faces as those that were given."
    )
    note += f" Published: {published['source']}, on other faces and pictures." if published else ""
    return Table("Association bias scores", columns, tuple(rows), note)


def _limits(configs: Mapping[str, Metrics]) -> Table:
    """How far the scores could go, and whether answers follow the place rather than the person."""
    rows = tuple(
        (
            Cell(in_words(config)),
            Cell(f"{figure(of['best_case'], digits=DIGITS)} to {figure(of['worst_case'], digits=DIGITS)}"),
            Cell(figure(of["maximum_score"], digits=DIGITS)),
            Cell(place(of)),
        )
        for config, of in configs.items()
    )
    note = (
        "Bounds: the score over all that unread answers could have been. Most lopsided: of answers to the same "
        "queries. Position sensitivity: share of answers at the left minus 50 %, in points; for pictures of things, "
        "the share that took the first term listed."
    )
    return Table(
        "Bounds and places", ("scenario, attribute", "bounds", "most lopsided", "position sensitivity"), rows, note
    )


def place(of: Metrics, with_interval: bool = True) -> str:
    """How far the answers follow the place, as a table shows it."""
    if "position_sensitivity" in of:
        value, ends = of["position_sensitivity"], interval(of, "position_sensitivity") if with_interval else []
        hundred = [None if end is None else 100 * end for end in ends]
        return figure(None if value is None else 100 * value, hundred)
    share = of.get("first_listed_share")
    return "no data" if share is None else f"first listed: {100 * share:.1f} %"


def _counts(of: Metrics) -> list[Cell]:
    return [Cell(n_with_clusters(of)), Cell(figure(100 * of["unread_rate"]))]


def _groups(of: Metrics) -> list[str]:
    return list(next(iter(of["selection_rates"].values())))


def _rates(config: str, of: Metrics, shares: Mapping[str, Mapping[str, float]], predictions: pd.DataFrame) -> Table:
    """Figures 3, 5 and 6 in numbers: how often each group was chosen, of the answers about an instance."""
    groups = _groups(of)
    shares = {} if of["pairwise"] else shares  # a choice between two of four is no share of four
    known = [group for group in groups if any(group in shares.get(name, {}) for name in of["selection_rates"])]
    asked = predictions[predictions["config"] == config]
    chosen = dict(iter(asked.groupby("instance")["chosen"]))
    rows = []
    for instance, rates in of["selection_rates"].items():
        ends = of.get("intervals", {}).get("selection_rates", {}).get(instance, {})
        texts = [_percent(rates[group], ends.get(group)) for group in groups]
        texts += [figure(shares.get(instance, {}).get(group)) for group in known]
        answers = chosen[instance]
        texts += [f"{answers.notna().sum():,}", figure(100 * answers.isna().mean())]
        rows.append((Cell(instance), *(Cell(text) for text in texts)))
    note = "Percent of the answers read about each. Brackets: 95 % interval."
    if len(groups) > 2 and of["pairwise"]:
        note += " Two of the four are offered at a time: a quarter each is even."
    columns = (config.split("_")[0], *groups, *(f"{group}, real" for group in known), "n read", "unread %")
    return Table(f"Who was chosen: {in_words(config)}", columns, tuple(rows), note)


def _percent(value: float | None, ends: Sequence[float | None] | None) -> str:
    hundred = [None if end is None else 100 * end for end in ends or []]
    return figure(None if value is None else 100 * value, hundred)


def _exploratory(configs: Mapping[str, Metrics]) -> Iterator[Table]:
    for config, of in configs.items():
        if shared := of["by"].get("shared"):
            rows = tuple(
                (
                    Cell(value),
                    *(Cell(figure(group[key], interval(group, key), DIGITS)) for key in SCORES),
                    Cell(figure(group["chance_score"], digits=DIGITS)),
                    *_counts(group),
                )
                for value, group in shared.items()
            )
            columns = ("both faces are", *SCORES.values(), "chance", "n (clusters)", "unread %")
            yield Table(f"{in_words(config)}: by what faces share", columns, rows, "Fewer answers, more noise.")
        if of["pairwise"]:
            yield _pairwise(config, of)


def _pairwise(config: str, of: Metrics) -> Table:
    """The matrices of Figures 4 and A3 to A8 in numbers."""
    pairs = list(dict.fromkeys(pair for shares in of["pairwise"].values() for pair in shares))
    rows = tuple(
        (
            Cell(instance),
            *(
                Cell(_percent(of["pairwise"].get(instance, {}).get(pair), _pair_interval(of, instance, pair)))
                for pair in pairs
            ),
        )
        for instance in of["selection_rates"]
    )
    columns = (config.split("_")[0], *(pair.replace("|", " before ") for pair in pairs))
    return Table(f"{in_words(config)}: one race before another", columns, rows, "Percent of the answers to that pair.")


def _pair_interval(of: Metrics, instance: str, pair: str) -> Sequence[float | None] | None:
    ends: Sequence[float | None] | None = of.get("intervals", {}).get("pairwise", {}).get(instance, {}).get(pair)
    return ends


def _examples(predictions: pd.DataFrame, unread: str) -> list[Example]:
    """A few of each configuration, each of another instance, with pictures. unread: what is said of such answers."""
    examples = []
    for _, of in predictions.groupby("config", sort=False):
        # Even steps would hit one instance again and again: each pair's prompts come in the same order.
        shuffled = of.iloc[np.random.default_rng(0).permutation(len(of))]
        by_turns = shuffled.iloc[np.argsort(shuffled.groupby("instance").cumcount(), kind="stable")]
        for row in by_turns.head(EXAMPLES_A_CONFIG).sort_index().itertuples():
            shared = "" if pd.isna(row.shared) else f" · both {row.shared}, {row.age}"
            examples.append(
                Example(
                    caption=f"{row.scenario} · {row.instance} · {', '.join(row.candidates)}{shared}",
                    prompt=row.prompt,
                    answer=row.text,
                    reading=unread if pd.isna(row.chosen) else str(row.chosen),
                    picture=row.row,
                )
            )
    return examples


def interval(of: Metrics, key: str) -> list[float | None]:
    ends: list[float | None] = of.get("intervals", {}).get(key) or []
    return ends
