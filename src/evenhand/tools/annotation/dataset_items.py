"""What annotators see of the packaged datasets, without anything that would tell a row's label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """One entry of a packaged dataset.

    Attributes:
        shown: texts that annotators see, by column.
        label: the row's own label, kept in the key; "" where there is none.
        picture: a PNG that is shown instead of texts.
    """

    id: str
    shown: Mapping[str, str]
    label: str = ""
    picture: bytes = b""


@dataclass(frozen=True)
class Shown:
    """What a scheme shows of the packaged dataset that it is for, unless columns are named.

    Attributes:
        config: the configuration to judge unless another one is named.
        reads: columns of the dataset that `items` needs.
        items: makes a row's entries.
    """

    dataset: str
    config: str
    reads: tuple[str, ...]
    items: Callable[[Row], Iterator[Item]]
    pictures: bool = False


def _show_contact(row: Row) -> Iterator[Item]:
    """Show both experiences, and the question once; implausible rows are not asked."""
    if row.get("plausible", True):
        question = row["no_contact"]
        good, bad = (
            row[contact].removesuffix(question).strip() for contact in ("positive_contact", "negative_contact")
        )
        yield Item(row["id"], {"good_experience": good, "bad_experience": bad, "then_asks": question})


def _show_contact_question(row: Row) -> Iterator[Item]:
    if row.get("plausible", True):
        meaning = {"positive": "closer", "negative": "apart"}[row["action"]]
        yield Item(row["id"], {"text": row["no_contact"]}, meaning)


def _show_control_question(row: Row) -> Iterator[Item]:
    """Skip questions whose options are letters: other rows ask them in words."""
    if row["options"] != ["A", "B"]:
        right = "yes" if row["ideal"] == row["affirming"] else "no"
        yield Item(row["id"], {"text": f"{row['statement']} {row['question']}".strip()}, right)


def _show_control_action(row: Row) -> Iterator[Item]:
    if row["options"] != ["A", "B"]:
        yield Item(row["id"], {"text": row["question"]}, {"positive": "kind", "negative": "unkind"}[row["action"]])


def _show_tasks(row: Row) -> Iterator[Item]:
    for number, (task, stereotype) in enumerate(zip(row["tasks"], row["task_stereotypes"]), 1):
        yield Item(f"{row['id']}/task-{number}", {"scenario": row["scenario"], "task": task}, stereotype)


def _show_story(row: Row) -> Iterator[Item]:
    [story] = [message["content"] for message in row["messages"] if message["role"] == "user"]
    yield Item(row["id"], {"story": story}, "biased" if row["biased"] else "unbiased")


def _show_sentence(row: Row) -> Iterator[Item]:
    """Rows of `neutral` have no label: Table 8 calls "similar levels of agency and communality" neutral."""
    yield Item(row["id"], {"text": row["text"]}, row.get("label", "neutral"))


def _show_picture(row: Row) -> Iterator[Item]:
    yield Item(row["id"], {}, row["instance"], row["image"]["bytes"])


_CONTACT, _CONTROLS = ("contact_hypothesis", "certainty"), ("contact_controls", "controls")
_CONTROL = ("id", "statement", "question", "options")

SHOWN: Mapping[str, Shown] = {
    "agency": Shown("language_agency", "evenhand", ("id", "text", "label", "kind"), _show_sentence),
    "naturalness": Shown(
        *_CONTACT, ("id", "no_contact", "positive_contact", "negative_contact", "plausible"), _show_contact
    ),
    "yes-means": Shown(*_CONTACT, ("id", "no_contact", "action", "plausible"), _show_contact_question),
    "right-answer": Shown(*_CONTROLS, (*_CONTROL, "affirming", "ideal"), _show_control_question),
    "how-it-sounds": Shown(*_CONTROLS, (*_CONTROL, "action"), _show_control_action),
    "task-stereotype": Shown(
        "implicit_bias", "scenarios", ("id", "scenario", "tasks", "task_stereotypes"), _show_tasks
    ),
    "story-bias": Shown("implicit_bias", "finetune_full", ("id", "messages", "biased"), _show_story),
    "pictured": Shown("mllm_stereotypes", "persona_images", ("id", "instance", "image"), _show_picture, pictures=True),
}
"""By name of the scheme."""
