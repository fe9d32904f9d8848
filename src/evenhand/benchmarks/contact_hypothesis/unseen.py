"""Whether two runs show what a training did to answers on rows that it had not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import NEW
from evenhand.flow.configuration import differences
from evenhand.flow.results import Results
from evenhand.report.findings import settings
from evenhand.training_record import base_of, base_version

CONTACT = "contact_hypothesis"
OF_ROWS = ("limit", "configs", "held_out", "held_out_seed", "all_rows")  # only rows that both have are compared


def not_shown(record: Mapping[str, Any], base: Results, second: Results) -> Iterator[str]:
    """Reasons, as parts of a sentence; none where both hold. record: the training's of second's model."""
    yield from _rows(record, second)
    yield from _base(record, base)
    if base.option("mitigation") != second.option("mitigation"):
        yield "one of the two was run with a mitigation that the other was not"
    if unlike := differences(_asked(base), _asked(second)):
        yield f"the two were asked otherwise ({'; '.join(unlike)})"


def _rows(record: Mapping[str, Any], second: Results) -> Iterator[str]:
    """Every setting trains on the main half alone, so prompt sets of the new half were never learned from."""
    recipe = record.get("recipe")
    recipe = recipe if isinstance(recipe, Mapping) else {}
    setting = recipe.get("setting")
    data = record.get("data")
    if isinstance(data, Mapping) and ("sha256" in data or data.get("mixed")):
        yield "it learned from a file, of whose questions nobody knows whether they are among these"
    elif second.rows_sha256:
        yield "the rows are a file's, which may be those that it learned from"
    elif recipe.get("benchmark", CONTACT) != CONTACT or record.get("trainer") == "implicit-bias":
        return  # it learned from no prompt sets
    elif not setting:
        yield "its training.json doesn't say which prompt sets it learned from"
    elif set(second.config.get("configs") or ()) <= set(NEW) and second.config.get("configs"):
        return
    elif _drawn(second.option, "held_out", "held_out_seed", "source", "all_rows") != (
        setting,
        recipe.get("seed"),
        recipe.get("source"),
        bool(recipe.get("all_rows")),
    ):
        yield (
            "the rows may be among those that it learned from: ask those held out, as its training.json says under "
            "measured_by"
        )


def _asked(results: Results) -> dict[str, Any]:
    """What decides how a row is asked, and how its reply is read."""
    told = settings(results)
    options = {name: value for name, value in (told.get("options") or {}).items() if name not in OF_ROWS}
    return {name: value for name, value in told.items() if name not in OF_ROWS} | {"options": options}


def _drawn(option: Any, *names: str) -> tuple[Any, ...]:
    return tuple(option(name) for name in names)


def _base(record: Mapping[str, Any], base: Results) -> Iterator[str]:
    """By name or identity, and by version where both say one; another dtype is another rounding of the same model."""
    told = base_of(dict(record))
    if told is None:
        yield "its training.json doesn't say what it was tuned from, so that the other may not be its base"
        return
    tuned, ran = base_version(dict(record)), base_version({"base": {"identity": base.model_identity}})
    same = base.model == told if tuned is None or ran is None else tuned == ran
    if not same:
        yield f"the other, {base.model_name}, is not what it was tuned from"
