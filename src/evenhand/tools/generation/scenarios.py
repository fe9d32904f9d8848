"""Generate scenarios of task assignment with any model, and reasons why their assignments are biased or not.

Borah & Mihalcea, section 3 and appendices F.1 and F.2. One scenario is asked for at a time, with a seed of its own;
what can't be read, breaks a rule of the dataset implicit_bias or repeats another scenario, packaged or new, is left out
and counted. The others are assigned by stereotype and evenly, and the model gives the reasons; both stories of a
scenario are kept or none, so that they stay balanced. People judge what remains (evenhand annotate, scheme yes-no).
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, derive_seed
from evenhand.flow.evaluation import OnProgress
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
from evenhand.library import DATASETS, dataset_builder_class
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Request
from evenhand.options import checked, option
from evenhand.tools.annotation.files import write_jsonl
from evenhand.tools.generation.near_duplicates import find_duplicates
from evenhand.tools.generation.pipeline import KEPT, Generation, begin, count_outcomes
from evenhand.tools.generation.scenario_rules import (
    FORMAT,
    REASON,
    SCENARIO,
    ScenarioReply,
    assign_by_stereotype,
    assign_evenly,
    failed_check,
    failed_reason,
    fill_prompt,
    read_reason,
    read_scenario,
    tell_story,
)

# In the run folder.
SCENARIOS = "scenarios.jsonl"
STORIES = {"finetune_full": "finetune_full.jsonl", "finetune_half": "finetune_half.jsonl"}
TO_JUDGE = "stories_to_judge.jsonl"

NEAR = 0.5  # of scenarios: no two packaged ones are more than 0.14 similar, no two published ones more than 0.45
MOST_PEOPLE = 6  # the dataset has two to four
COLUMNS = ("id", "domain", "scenario", "tasks", "task_stereotypes", "task_status", "characters", "genders")
VERSIONS = ("biased", "unbiased")
ALONE = "the other one failed"  # outcome of a good reason whose scenario lost the other one


@dataclass(frozen=True, kw_only=True)
class ScenarioGeneration(Generation):
    """Options; sampling by default as in appendix H.1."""

    domain: str = option("office", "where implicit gender biases may occur: office, hospital, …", metavar="DOMAIN")
    female: int = option(2, "female characters, and tasks stereotyped as female", least=1, metavar="N")
    male: int = option(2, "male characters, and tasks stereotyped as male", least=1, metavar="N")
    n: int = option(50, "number of scenarios to ask for, one a request", least=1, metavar="N")
    temperature: float | None = option(0.7, "sampling temperature, above 0", least=0, metavar="T")
    top_p: float = option(0.95, "nucleus sampling threshold", above=0, most=1, metavar="P")
    max_new_tokens: int = option(500, "longest reply, in tokens", least=1, metavar="N")

    @property
    def number(self) -> dict[str, int]:
        return {"female": self.female, "male": self.male}

    @property
    def domain_words(self) -> list[str]:
        return re.findall(r"[^\W_]+", self.domain.casefold())

    def check(self) -> None:
        """Raise UsageError for what no scenario can be."""
        if not self.domain_words or "\n" in self.domain:
            raise UsageError(f"--domain must be a few words, such as law enforcement, got {self.domain!r}")
        if self.female + self.male > MOST_PEOPLE:
            got = f"{self.female} female and {self.male} male characters"
            raise UsageError(f"there must be at most {MOST_PEOPLE} characters in all, got {got}")
        if self.temperature == 0 and self.n > 1:
            raise UsageError("--temperature must be above 0: every request has the same prompt")


class Story(NamedTuple):
    """An assignment of a scenario's tasks. version: "biased" or "unbiased"."""

    id: str
    scenario: Prediction
    version: str
    assignment: list[str]
    text: str


def make_scenarios(
    config: ScenarioGeneration, output: Path, model: Model | None = None, on_progress: OnProgress | None = None
) -> RunFolder:
    """Ask for scenarios and reasons; write a run folder with both. An interrupted run resumes.

    scenarios.jsonl, finetune_full.jsonl and finetune_half.jsonl have the dataset's columns. stories_to_judge.jsonl (id,
    scenario_id, story, reason, biased) is for `evenhand annotate export`. predictions.parquet: every reply and its
    outcome. results.json: the counts.

    Args:
        model: used instead of the configured one.

    Raises:
        UsageError: for options that don't fit.
        EvenhandError, ModelError: for what failed on the way.
    """
    checked(config).check()
    RunFolder(output).refuse_occupied()
    packaged = packaged_scenarios()
    steps = config.n * (1 + len(VERSIONS))
    with begin(config, output, steps, model, on_progress) as run:
        ids = [f"new-{'_'.join(config.domain_words)}-{number:03d}" for number in range(1, config.n + 1)]
        asked = [each for [each] in run.runner.run(_ask_scenario(each, config) for each in ids)]
        kept = [each for each in asked if each["outcome"] == KEPT]
        compared = [_comparison_texts(str(each["scenario"]), _list(each["tasks"])) for each in kept]
        for each, duplicate in zip(kept, find_duplicates([*packaged, *compared], near=NEAR)[len(packaged) :]):
            each["outcome"] = duplicate or KEPT
        stories = [story for each in kept if each["outcome"] == KEPT for story in _tell_stories(each, config.seed)]
        if on_progress:
            on_progress(steps, Step(finished=steps - config.n - len(stories)))
        reasons = [each for [each] in run.runner.run(_ask_reason(story, config) for story in stories)]
        failed = {each["scenario_id"] for each in reasons if each["outcome"] != KEPT}
        for each in reasons:
            if each["outcome"] == KEPT and each["scenario_id"] in failed:
                each["outcome"] = ALONE
        run.folder.write_predictions([*asked, *reasons])
        for name, rows in _make_files(asked, reasons).items():
            write_jsonl(run.folder.path / name, rows)
        steps_asked = {"scenarios": asked, "reasons": reasons}
        counts = {name: count_outcomes(str(each["outcome"]) for each in rows) for name, rows in steps_asked.items()}
        prompts = {"scenario": SCENARIO, "format": FORMAT, "reason": REASON}
        further = {"prompts": {name: asdict(prompt) for name, prompt in prompts.items()}, "packaged": len(packaged)}
        run.write_results("scenario_generation", counts["scenarios"]["kept"], counts, **further)
    return run.folder


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


def _ask_scenario(scenario_id: str, config: ScenarioGeneration) -> Episode:
    """Ask for one scenario, read and check it (appendix F.1)."""
    prompt = fill_prompt(" ".join(config.domain_words), config.number)
    seed = derive_seed(config.seed, scenario_id)
    [reply] = yield [Request((Message("user", prompt),), sampling=config.sampling(), seed=seed, name=scenario_id)]
    row = _EMPTY | {"id": scenario_id, "scenario_id": scenario_id, "step": "scenario", "reply": reply.text}
    if reply.failed:
        return [row | {"outcome": reply.finish_reason.replace("_", " ")}]
    read = read_scenario(reply.text, cut=reply.finish_reason == "length")
    if isinstance(read, str):
        return [row | {"outcome": read}]
    read = _shuffle(read, config.seed, scenario_id)
    row |= {"domain": "_".join(config.domain_words), "scenario": read.scenario, "tasks": [*read.tasks]}
    row |= {"task_stereotypes": [*read.stereotypes], "task_status": [""] * len(read.tasks)}  # not judged
    row |= {"characters": [*read.characters], "genders": [*read.genders]}
    return [row | {"outcome": failed_check(read, config.number) or KEPT}]


def _shuffle(read: ScenarioReply, run_seed: int, scenario_id: str) -> ScenarioReply:
    """Shuffle tasks and characters independently, as in the dataset, so that list order is no assignment."""
    tasks, characters = list(zip(read.tasks, read.stereotypes)), list(zip(read.characters, read.genders))
    for name, listed in (("tasks", tasks), ("characters", characters)):
        random.Random(derive_seed(run_seed, scenario_id, agent=name)).shuffle(listed)
    return ScenarioReply(read.scenario, *zip(*tasks), *zip(*characters))  # type: ignore[arg-type]


def _tell_stories(row: Prediction, run_seed: int) -> list[Story]:
    """Tell a scenario's assignment by stereotype and its even one; none where no assignment is even."""
    lists = (tuple(_list(row[name])) for name in ("tasks", "task_stereotypes", "characters", "genders"))
    read = ScenarioReply(str(row["scenario"]), *lists)
    seeds = [derive_seed(run_seed, str(row["id"]), agent=version) for version in VERSIONS]
    assignments = (assign_by_stereotype(read, seeds[0]), assign_evenly(read, seeds[1]))
    return [
        Story(f"{row['id']}/{version}", row, version, assigned, tell_story(read, assigned))
        for version, assigned in zip(VERSIONS, assignments)
        if assigned and all(assignments)
    ]


def _ask_reason(story: Story, config: ScenarioGeneration) -> Episode:
    """Ask for the reason of one story, read and check it (appendix F.2)."""
    message = Message("user", f"{story.text}\n\n{REASON.text}")
    seed = derive_seed(config.seed, story.id)
    [reply] = yield [Request((message,), sampling=config.sampling(), seed=seed, name=story.id)]
    row = story.scenario | {"id": story.id, "scenario_id": story.scenario["id"], "step": "reason", "reply": reply.text}
    row |= {"version": story.version, "assignment": story.assignment, "story": story.text}
    if reply.failed:
        return [row | {"outcome": reply.finish_reason.replace("_", " ")}]
    if reply.finish_reason == "length":
        return [row | {"outcome": "truncated"}]
    reason = read_reason(reply.text)
    return [row | {"reason": reason, "outcome": failed_reason(reason, story.version == "biased") or KEPT}]


# Every column of predictions.parquet, in order.
_EMPTY: Prediction = dict.fromkeys(
    ("id", "scenario_id", "step", "outcome", "reply", *COLUMNS[1:], "version", "assignment", "story", "reason")
)


def _list(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _make_files(
    asked: Sequence[Prediction], reasons: Sequence[Prediction]
) -> dict[str, Sequence[Mapping[str, object]]]:
    """Make the rows of each file, from what was kept."""
    script = _dataset_script()
    scenarios = [{name: each[name] for name in COLUMNS} for each in asked if each["outcome"] == KEPT]
    stories_kept = [each for each in reasons if each["outcome"] == KEPT]
    stories: dict[str, list[Mapping[str, object]]] = {config: [] for config in STORIES}
    for pair in zip(stories_kept[::2], stories_kept[1::2]):
        # procedure and tone: columns of the dataset that a model's reasons leave open
        versions = {version: each | {"procedure": "", "tone": ""} for version, each in zip(VERSIONS, pair)}
        for config, rows in stories.items():
            rows += script.story_rows(config, pair[0] | {"id": pair[0]["scenario_id"]}, versions)
    to_judge = [
        {name: each[name] for name in ("id", "scenario_id", "story", "reason")}
        | {"biased": each["version"] == "biased"}
        for each in stories_kept
    ]
    return {SCENARIOS: scenarios, **{name: stories[config] for config, name in STORIES.items()}, TO_JUDGE: to_judge}
