"""Runs side by side as in Table 4 of the paper: before and after a training on one scale, on the two others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evenhand.benchmarks.contact_hypothesis.cuts import ONE_SCALE, only_held_out
from evenhand.benchmarks.contact_hypothesis.figures import CONTACTS
from evenhand.flow.results import read_published
from evenhand.report.findings import Run, not_beside_them
from evenhand.report.tables import Cell, Table, cell
from evenhand.training_record import training_record

PUBLISHED = Path(__file__).with_name("table_4.csv")


def compare_with_table_4(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the table where all runs asked what one of the settings 3a to 3c holds out.

    The paper's columns are left out where a run differs in anything but its model, or a training in anything but its
    base; the note says in what.
    """
    settings = {run.results.option("held_out") for run in runs}
    if len(settings) > 1 or not settings <= {*ONE_SCALE}:
        return
    [setting] = settings
    why_not = not_beside_them(runs, lambda run: (only_held_out(setting),)) or _why_trained_otherwise(runs, setting)
    published = [] if why_not else read_published(PUBLISHED, setting=setting)
    papers = {(each["tuned"], each["scale"], each["contact"]): each["value"] for each in published}
    rows = []
    for scale in dict.fromkeys(value for run in runs for value in run.results.figures.values("biased", "scale")):
        for contact, name in CONTACTS.items():
            measured = (cell(run.results.figures.row("biased", scale=scale, contact=contact)) for run in runs)
            paper = [Cell(papers[tuned, scale, contact], digits=2) for tuned in ("before", "after") if papers]
            rows.append((Cell(f"{scale}, {name}"), *measured, *paper))
    columns = [f"{run.letter}: {run.results.model_name}" for run in runs]
    columns += ["LLaMA 2, published, before", "after"] if papers else []
    note = f"Percent of biased answers. {why_not or 'Published: Raj et al. 2024, Table 4.'}"
    title = f"Trained on {ONE_SCALE[setting]}, asked the other scales (as Table 4)"
    yield Table(title, ("scale, contact", *columns), tuple(rows), note)


def _why_trained_otherwise(runs: Sequence[Run], setting: str) -> str:
    """Say in what a run's training differs from the published one; "" where none does, or none was trained."""
    for run in runs:
        record = training_record(run.results.model or "")
        if not record:
            continue
        differences = record.get("otherwise_than_published")
        otherwise = ["training"] if differences is None else sorted({*differences} - {"base"})
        if (learned := (record.get("recipe") or {}).get("setting")) != setting:
            otherwise.append(f"setting {learned}")
        if otherwise:
            return f"Published figures are not shown: {run.letter} was trained with another {', '.join(otherwise)}."
    return ""
