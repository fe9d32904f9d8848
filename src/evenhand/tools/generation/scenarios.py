"""New scenarios of task assignment with any model, and reasons why their assignments are biased or not.

Borah & Mihalcea, section 3 and appendices F.1 and F.2. One scenario is asked for at a time, with a seed of its own;
what can't be read, breaks a rule of the dataset implicit_bias or repeats another scenario, packaged or new, is left out
and counted. Those whose tasks' stereotypes are all known are assigned by stereotype and evenly, and the model gives the
reasons; both stories of a scenario are kept or none, so that they stay balanced. People judge what remains (evenhand
annotate, scheme yes-no), and say whose the other tasks are.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, get_args

from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, derive_seed
from evenhand.flow.evaluation import OnProgress
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
from evenhand.flow.store import Store
from evenhand.flow.template_date import keep_date, record_date
from evenhand.library import DATASETS, dataset_builder_class
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Request
from evenhand.options import checked, option
from evenhand.output_files import refuse_input
from evenhand.tools.annotation.files import read_sheet, write_jsonl
from evenhand.tools.generation import pipeline, scenario_stories
from evenhand.tools.generation.near_duplicates import Duplicate, find_duplicates
from evenhand.tools.generation.pipeline import KEPT, NO_REPLIES, Generation
from evenhand.tools.generation.scenario_replies import ScenarioReply, Unread, read_scenario
from evenhand.tools.generation.scenario_rules import SCENARIO, STEREOTYPES, Failed, Wanted, completed, failed_check
from evenhand.tools.generation.scenario_stories import REASON, FailedReason, Reason, UnreadReason
from evenhand.whole_files import write_whole

NAME = "scenario_generation"

# Beside a run folder's other files.
SCENARIOS = "scenarios.jsonl"
STORIES = {"finetune_full": "finetune_full.jsonl", "finetune_half": "finetune_half.jsonl"}
REJECTED = "rejected.jsonl"
TO_JUDGE = "stories_to_judge.jsonl"
TO_LABEL, SCHEME = "tasks_to_label.jsonl", "task_stereotypes.json"

NEAR = 0.5  # of scenarios: no two packaged ones are more than 0.14 alike, no two published ones more than 0.45
# Of the dataset.
COLUMNS = ("id", "domain", "scenario", "tasks", "task_stereotypes", "task_status", "characters", "genders")
VERSIONS = ("biased", "unbiased")

QUESTION = "stereotype"
TASK_SCHEME = Path(__file__).with_name("task_stereotypes.json")


@dataclass(frozen=True, kw_only=True)
class ScenarioGeneration(Generation):
    """Sampling by default as in appendix H.1."""

    wanted: Wanted
    n: int = option(50, "number of scenarios to ask for, one a request", least=1, metavar="N")
    temperature: float | None = option(0.7, "sampling temperature, above 0", least=0, metavar="T")
    top_p: float = option(0.95, "nucleus sampling threshold", above=0, most=1, metavar="P")
    max_new_tokens: int = option(500, "longest reply, in tokens", least=1, metavar="N")


class Story(NamedTuple):
    """An assignment of a scenario's tasks. version: "biased" or "unbiased"."""

    id: str
    scenario: Prediction
    version: str
    assignment: list[str]
    text: str


def make_scenarios(
    config: ScenarioGeneration,
    output: Path,
    model: Model | None = None,
    on_progress: OnProgress | None = None,
    labelled: Path | None = None,
) -> RunFolder:
    """Ask for scenarios and reasons, and leave a run folder with both; a run interrupted goes on.

    model: in place of the one that the configuration names. labelled: a table of `evenhand annotate import` that says
    of tasks in tasks_to_label.jsonl whose they are; repeat a run with it to go on with these scenarios.
    scenarios.jsonl: the dataset's columns; a stereotype is "" where neither the reply nor people say it.
    finetune_full.jsonl, finetune_half.jsonl: the dataset's columns. stories_to_judge.jsonl (id, scenario_id, story,
    reason, biased) and tasks_to_label.jsonl (id, scenario_id, scenario, task) are for `evenhand annotate export`.
    predictions.parquet: every reply and its outcome; rejected.jsonl: those that were not kept. results.json: counts.
    Raises UsageError for options and labels that don't fit, EvenhandError and ModelError for what failed on the way.
    """
    checked(config)
    RunFolder(output).refuse_occupied()
    for name in (SCENARIOS, REJECTED, TO_JUDGE, TO_LABEL, SCHEME, *STORIES.values()):
        refuse_input(output / name, [labelled] if labelled else [])
    if config.temperature == 0 and config.n > 1:
        raise UsageError(
            "--temperature 0 gives one scenario, since there is one prompt and no sampling; choose one above 0"
        )
    labels = read_labels(labelled) if labelled else {}
    packaged = packaged_scenarios()
    config = keep_date(config, RunFolder(output))
    model = model or config.load()
    config = record_date(config, [model])
    with RunFolder.begin(output, config) as folder, Store(folder.store, {"default": model.identity}) as store:
        steps = config.n * (1 + len(VERSIONS))
        running = pipeline.make_runner(config, model, store, steps, on_progress)
        ids = [f"new-{config.wanted.name}-{number:03d}" for number in range(1, config.n + 1)]
        asked = [each for [each] in running.run(scenario_episode(each, config, labels) for each in ids)]
        known = {_task_id(str(each["id"]), place) for each in asked for place in range(len(_list(each["tasks"])))}
        if unknown := sorted({*labels} - known):
            raise UsageError(f"{unknown[0]!r} is labelled, which is no task here; name those of this run's {TO_LABEL}")
        _mark_duplicates(asked, packaged)
        stories = [told for each in asked for told in make_stories(each, config.seed)]
        if on_progress:
            on_progress(steps, Step(finished=steps - config.n - len(stories)))
        reasons = [each for [each] in running.run(reason_episode(told, config) for told in stories)]
        _mark_alone(reasons)
        folder.write_predictions([*asked, *reasons])
        _write_rows(folder, asked, reasons)
        counts = outcome_counts(asked, reasons)
        asked_for = {"stereotypes": STEREOTYPES} if config.wanted.stereotypes_asked else {}
        prompts = {"scenario": SCENARIO, **asked_for, "reason": REASON}
        labels_sha256 = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest()
        further = {
            "wanted": {"domain": config.wanted.name, **config.wanted.number},
            "prompts": {name: asdict(prompt) for name, prompt in prompts.items()},
            "packaged": len(packaged),
            "labelled_sha256": labels_sha256 if labels else None,
        }
        pipeline.write_results(folder, NAME, config, model, counts["scenarios"]["kept"], counts, **further)
    return folder


# What people have labelled


def read_labels(path: Path) -> dict[str, str]:
    """{id of a task: "female" or "male"}, of a merged table. Raises UsageError where it is of another scheme."""
    sheet = read_sheet(path)
    identity, question, majority = (sheet.column(name) for name in ("id", "question", "majority"))
    if others := {row[question] for row in sheet.rows} - {QUESTION}:
        raise UsageError(f"{path} answers {min(others)!r}; name the merged labels of {TO_LABEL}, by {SCHEME}")
    return {row[identity]: row[majority] for row in sheet.rows if row[majority] in ("female", "male")}


def _task_id(scenario_id: str, place: int) -> str:
    return f"{scenario_id}/task-{place + 1}"


# Scenarios (appendix F.1)


def scenario_episode(scenario_id: str, config: ScenarioGeneration, labels: Mapping[str, str]) -> Episode:
    """Ask for one scenario, read and check it. Its `outcome` is "kept" until it is found to repeat another."""
    wanted, seed = config.wanted, derive_seed(config.seed, scenario_id)
    message = Message("user", wanted.prompt)
    [reply] = yield [Request((message,), sampling=config.sampling(), seed=seed, name=scenario_id)]
    found = pipeline.no_reply(reply) or read_scenario(reply.text, cut=reply.finish_reason == "length")
    row = _row(scenario_id, scenario_id, "scenario", reply.text) | {"domain": wanted.name}
    if not isinstance(found, ScenarioReply):
        return [row | {"outcome": str(found)}]
    read = _add_labels(_shuffle(found, config.seed, scenario_id), scenario_id, wanted, labels)
    row |= {"outcome": failed_check(read, wanted) or KEPT, "scenario": read.scenario, "tasks": [*read.tasks]}
    row |= {"task_stereotypes": [*read.stereotypes], "task_status": [""] * len(read.tasks)}  # not judged
    return [row | {"characters": [*read.characters], "genders": [*read.genders]}]


def _shuffle(read: ScenarioReply, run_seed: int, scenario_id: str) -> ScenarioReply:
    """Shuffle tasks and characters independently, as in the dataset, so that list order is no assignment."""
    tasks, characters = list(zip(read.tasks, read.stereotypes)), list(zip(read.characters, read.genders))
    for of, listed in (("tasks", tasks), ("characters", characters)):
        random.Random(derive_seed(run_seed, scenario_id, agent=of)).shuffle(listed)
    return ScenarioReply(read.scenario, *zip(*tasks), *zip(*characters))  # type: ignore[arg-type]


def _add_labels(read: ScenarioReply, scenario_id: str, wanted: Wanted, labels: Mapping[str, str]) -> ScenarioReply:
    """Add stereotypes that people gave, and those that follow from how many there are of each."""
    said = completed(read.stereotypes, wanted.number)
    known = [each or labels.get(_task_id(scenario_id, place), "") for place, each in enumerate(said)]
    return read._replace(stereotypes=completed(known, wanted.number), genders=completed(read.genders, wanted.number))


def packaged_scenarios() -> list[tuple[str, str]]:
    """Return the texts by which duplicates are found, of each scenario of the dataset implicit_bias."""
    script = _dataset_script()
    sources, domains = DATASETS / "implicit_bias" / "sources", (*script.DOMAINS, *script.TEST_DOMAINS)
    rows = [script.scenario_row(entry) for name in domains for entry in script.read_jsonl(sources / f"{name}.jsonl")]
    return [_comparison_texts(row["scenario"], row["tasks"]) for row in rows]


def _dataset_script() -> ModuleType:
    """Return the dataset's loading script, which makes rows of the same form."""
    return sys.modules[dataset_builder_class("implicit_bias").__module__]


def _comparison_texts(scenario: str, tasks: Sequence[str]) -> tuple[str, str]:
    """Return a scenario's text, and its sorted tasks as one text."""
    return scenario, " ".join(sorted(tasks))


def _mark_duplicates(asked: Sequence[Prediction], packaged: Sequence[tuple[str, str]]) -> None:
    kept = [each for each in asked if each["outcome"] == KEPT]
    compared = [_comparison_texts(str(each["scenario"]), _list(each["tasks"])) for each in kept]
    for each, duplicate in zip(kept, find_duplicates([*packaged, *compared], near=NEAR)[len(packaged) :]):
        each["outcome"] = duplicate or KEPT


# Stories and reasons (appendix F.2)


def make_stories(scenario: Prediction, run_seed: int) -> list[Story]:
    """Assign a kept scenario by stereotype and evenly; none where a stereotype is unknown or none is even."""
    stereotypes, names, genders = (_list(scenario[name]) for name in ("task_stereotypes", "characters", "genders"))
    if scenario["outcome"] != KEPT or "" in stereotypes:
        return []
    seeds = [derive_seed(run_seed, str(scenario["id"]), agent=version) for version in VERSIONS]
    even = scenario_stories.even_assignment(stereotypes, names, genders, seeds[1])
    if even is None:
        return []
    by_stereotype = scenario_stories.assignment_by_stereotype(stereotypes, names, genders, seeds[0])
    stories = []
    for version, assigned in zip(VERSIONS, (by_stereotype, even)):
        tasks, gender_of = _list(scenario["tasks"]), dict(zip(names, genders))
        text = scenario_stories.story(str(scenario["scenario"]), tasks, assigned, gender_of)
        stories.append(Story(f"{scenario['id']}/{version}", scenario, version, assigned, text))
    return stories


def reason_episode(told: Story, config: ScenarioGeneration) -> Episode:
    """Ask for the reason of one story, read and check it."""
    message = Message("user", f"{told.text}\n\n{REASON.text}")
    seed = derive_seed(config.seed, told.id)
    [reply] = yield [Request((message,), sampling=config.sampling(), seed=seed, name=told.id)]
    found = pipeline.no_reply(reply) or scenario_stories.read_reason(reply.text, reply.finish_reason == "length")
    row = _row(told.id, str(told.scenario["id"]), "reason", reply.text)
    row |= {name: told.scenario[name] for name in COLUMNS if name != "id"}
    row |= {"version": told.version, "assignment": told.assignment, "story": told.text}
    if not isinstance(found, Reason):
        return [row | {"outcome": str(found)}]
    failed = scenario_stories.failed_reason(found.text, told.version == "biased")
    return [row | {"outcome": failed or KEPT, "reason": found.text}]


LOST: Mapping[str, Sequence[str]] = {
    "no_reply": NO_REPLIES,
    "unread": get_args(Unread),
    "failed": get_args(Failed),
    "duplicates": get_args(Duplicate),
}
ALONE = "the other one failed"  # a reason that could be kept, of a scenario whose other one could not

REASONS_LOST: Mapping[str, Sequence[str]] = {
    "reasons_no_reply": NO_REPLIES,
    "reasons_unread": get_args(UnreadReason),
    "reasons_failed": get_args(FailedReason),
    "reasons_alone": (ALONE,),
}


def _mark_alone(reasons: Sequence[Prediction]) -> None:
    failed = {each["scenario_id"] for each in reasons if each["outcome"] != KEPT}
    for each in reasons:
        if each["outcome"] == KEPT and each["scenario_id"] in failed:
            each["outcome"] = ALONE


# What is left behind

_EMPTY: Prediction = dict.fromkeys((*COLUMNS[1:], "version", "assignment", "story", "reason"))


def _row(identity: str, scenario_id: str, step: str, reply: str) -> Prediction:
    """Make a row with every column of predictions.parquet, in order."""
    return {"id": identity, "scenario_id": scenario_id, "step": step, "outcome": "", "reply": reply, **_EMPTY}


def _list(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _write_rows(folder: RunFolder, asked: Sequence[Prediction], reasons: Sequence[Prediction]) -> None:
    kept = [each for each in asked if each["outcome"] == KEPT]
    told = [each for each in reasons if each["outcome"] == KEPT]
    rejected = [each for each in (*asked, *reasons) if each["outcome"] != KEPT]
    to_judge = _select(told, ("id", "scenario_id", "story", "reason"))
    files: dict[str, Sequence[Mapping[str, object]]] = {
        SCENARIOS: _select(kept, COLUMNS),
        REJECTED: _select(rejected, ("id", "step", "outcome", "reply")),
        **{name: story_rows(config, told) for config, name in STORIES.items()},
        TO_JUDGE: [row | {"biased": each["version"] == "biased"} for row, each in zip(to_judge, told)],
        TO_LABEL: [row for each in kept for row in _to_label(each)],
    }
    for name, rows in files.items():
        write_jsonl(folder.path / name, rows)
    write_whole(folder.path / SCHEME, TASK_SCHEME.read_bytes())


_UNSAID: Prediction = {"procedure": "", "tone": ""}  # columns of the dataset that nobody has filled in


def story_rows(config: str, told: Sequence[Prediction]) -> list[dict[str, object]]:
    """Rows of finetune_full or finetune_half, made by the dataset's own rule, from stories in pairs."""
    script = _dataset_script()
    rows: list[dict[str, object]] = []
    for pair in zip(told[::2], told[1::2]):
        stories = {version: each | _UNSAID for version, each in zip(VERSIONS, pair)}
        rows += script.story_rows(config, pair[0] | {"id": pair[0]["scenario_id"]}, stories)
    return rows


def _select(rows: Sequence[Prediction], columns: Sequence[str]) -> list[Prediction]:
    return [{name: each[name] for name in columns} for each in rows]


def _to_label(each: Prediction) -> list[Prediction]:
    known = zip(_list(each["tasks"]), _list(each["task_stereotypes"]))
    return [
        {"id": _task_id(str(each["id"]), place), "scenario_id": each["id"], "scenario": each["scenario"], "task": task}
        for place, (task, stereotype) in enumerate(known)
        if not stereotype
    ]


def outcome_counts(asked: Sequence[Prediction], reasons: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    """`scenarios` asked and kept, and of those kept, `stereotypes_unknown`; `no_reply`, `unread`, `failed` and
    `duplicates` by reason: asked is the sum of kept and these. `reasons` asked and kept, and likewise what became of
    the others.
    """
    outcomes, reason_outcomes = ([str(each["outcome"]) for each in rows] for rows in (asked, reasons))
    unknown = sum(each["outcome"] == KEPT and "" in _list(each["task_stereotypes"]) for each in asked)
    scenarios = {"asked": len(asked), "kept": outcomes.count(KEPT), "stereotypes_unknown": unknown}
    counts = {"scenarios": scenarios} | pipeline.count_reasons(outcomes, LOST)
    counts["reasons"] = {"asked": len(reasons), "kept": reason_outcomes.count(KEPT)}
    return counts | pipeline.count_reasons(reason_outcomes, REASONS_LOST)
