"""implicit_bias: scenarios in which tasks are to be assigned to people who differ in their gender alone.

After Borah and Mihalcea, "Towards Implicit Bias Detection and Mitigation in Multi-Agent LLM Interactions" (EMNLP
Findings 2024), section 3 and Appendix A. Some tasks of a scenario are stereotypically men's, as many as it has men, the
others women's. The scenarios in `sources/`, their assignments told as stories and the reasons were written for this
dataset; the gender of the first character and the stereotype of the first task vary independently of each other. A
task's status (decides, supports, menial) varies independently of its stereotype.

scenarios: seven domains; test: two further ones; finetune_full: each scenario's assignment told as a story by
stereotype and evenly, with the reason why implicit bias is present or absent; finetune_half: the even ones alone.
How the tasks came to be given (`procedure`), the talk around it (`tone`) and the gender of whoever is named first vary
independently of who does which.
case_study: the three cases of Appendix C, with several names in several orders.
"""

import csv
import hashlib
import json
import os
import re
import warnings
from dataclasses import dataclass
from functools import partial
from itertools import permutations

import datasets

DOMAINS = ("family", "office", "hospital", "politics", "law_enforcement", "education", "team_dynamics")
TEST_DOMAINS = ("media_and_movies", "planning_and_development")
FINETUNE = ("finetune_full", "finetune_half")
TOLD_LISTS = ("tasks", "task_stereotypes", "characters", "genders", "assignment")
TOLD = ("procedure", "tone", "first_named")
CASE_STUDY = "case_study"
NOT_STATED = "not stated"
GENDERS = {"m": "male", "f": "female"}
SPLIT_SEED = 0
CASE_SEED = 0
CASE_ORDERS = sorted(set(permutations(("female", "female", "male", "male"))))  # six; each set of names has five of them

SYSTEM = {  # as printed in Figures 12 and 13
    "finetune_full": "Mod is an implicit bias detector that determines if implicit bias is present based on a "
    "scenario.",
    "finetune_half": "Mod is a fair agent that assesses situations with equal representation and determine why there "
    "is no implicit bias.",
}

# source="official": the published files. Those without a checksum are pinned by their commit alone.
OFFICIAL_URL = (
    "https://raw.githubusercontent.com/MichiganNLP/MultiAgent_ImplicitBias/"
    "54cc8b5193c5778338d823ac7e306e802bb3ff15/Data/{path}"
)
OFFICIAL = {  # {config: {split: (path, its name below $EVENHAND_SOURCES, sha256)}}
    "scenarios": {
        "test": (
            "situations.csv",
            "implicit_bias/situations.csv",
            "801f757b71fc2a1ce196bf1c5362ec1efdd0f75087904527f8ab4c8f697abf1d",
        )
    },
    "test": {
        "test": (
            "test_data.csv",
            "implicit_bias/test_data.csv",
            "3da999f4a20ab5bd36c090dc9823d4b0c6c12254f0659d852ae27ff22c768d10",
        )
    },
    "finetune_full": {
        "train": (
            "ft/train_implicit_all.jsonl",
            "implicit_bias/train_implicit_all.jsonl",
            "06182f2e4677924cd86ad8dbe51896fd66e806bb48c5fee13804f9e8cbfe7c78",
        ),
        "validation": ("ft/dev_implicit_all.jsonl", "implicit_bias/dev_implicit_all.jsonl", None),
    },
    "finetune_half": {
        "train": (
            "half-ft/train_nonimplicit_new.jsonl",
            "implicit_bias/train_nonimplicit_new.jsonl",
            "1736518135c2de178db41aa3a4ff3d280921967d309fc7f04e2c29e3cd429a8e",
        ),
        "validation": ("half-ft/dev_nonimplicit_new.jsonl", "implicit_bias/dev_nonimplicit_new.jsonl", None),
    },
}


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def scenario_row(entry):
    return {
        "id": entry["id"],
        "domain": entry["domain"],
        "scenario": entry["scenario"],
        "tasks": [task["task"] for task in entry["tasks"]],
        "task_stereotypes": [task["stereotype"] for task in entry["tasks"]],
        "task_status": [task["status"] for task in entry["tasks"]],
        "characters": [character["name"] for character in entry["characters"]],
        "genders": [character["gender"] for character in entry["characters"]],
    }


def split_of_scenarios(entries):
    """{id: split}, 80/20 within a domain: of five scenarios in a seeded order, the third is for validation."""

    def draw(entry):
        return entry["domain"], hashlib.sha256(f"{SPLIT_SEED}/{entry['id']}".encode()).hexdigest()

    ranked = enumerate(sorted(entries, key=draw))
    return {entry["id"]: "validation" if place % 5 == 2 else "train" for place, entry in ranked}


def told_scenarios(entries, stories):
    """Scenarios with their `biased` and `unbiased` stories."""
    of_id = {story["id"]: story for story in stories}
    return [
        entry | {version: of_id[f"{entry['id']}/{version}"] for version in ("biased", "unbiased")} for entry in entries
    ]


def first_named(story, characters, genders):
    """The gender of the character whose name comes first; "" where none does."""
    found = ((re.search(rf"\b{re.escape(name)}\b", story), gender) for name, gender in zip(characters, genders))
    return min(((name.start(), gender) for name, gender in found if name), default=(0, ""))[1]


def story_rows(config, scenario, stories):
    """The messages of Figures 12 and 13: a system message, the story, the reason for bias or for none.

    scenario: a row. stories: {version: its story, reason, assignment, procedure and tone}.
    """
    for version in ("biased", "unbiased") if config == "finetune_full" else ("unbiased",):
        told = stories[version]
        yield {
            "id": f"{scenario['id']}/{version}",
            "scenario_id": scenario["id"],
            "domain": scenario["domain"],
            "messages": messages(SYSTEM[config], told["story"], told["reason"]),
            "biased": version == "biased",
            **{column: scenario[column] for column in ("tasks", "task_stereotypes", "characters", "genders")},
            **{column: told[column] for column in ("assignment", "procedure", "tone")},
            "first_named": first_named(told["story"], scenario["characters"], scenario["genders"]),
        }


def messages(system, user, assistant):
    roles = {"system": system, "user": user, "assistant": assistant}
    return [{"role": role, "content": content} for role, content in roles.items()]


# The case study of Appendix C.


def case_rows(study, entries):
    """case × names × order. entries: whose characters' names are drawn, besides the paper's own four."""
    for case in study["cases"]:
        tasks = [task["task"] for task in case["tasks"]]
        for place, names in enumerate(case_names(study["names"], entries)):
            label = "-".join(name.lower() for of_gender in names.values() for name in of_gender)
            for number, people in enumerate(case_orders(names, left_out=CASE_ORDERS[place])):
                yield {
                    "id": f"{case['case']}/{label}/{number}",
                    "case": case["case"],
                    "characters": [name for name, _ in people],
                    "genders": [gender for _, gender in people],
                    "tasks": tasks,
                    "task_stereotypes": [task["stereotype"] for task in case["tasks"]],
                    "prompt": case["prompt"].format(
                        agents=listed([f"{name} ({gender})" for name, gender in people]), tasks=listed(tasks)
                    ),
                }


def case_names(papers, entries):
    """As many sets {gender: [name, name]} as there are orders of genders: the paper's, then names in a seeded order."""
    drawn = {
        gender: sorted(
            {each["name"] for entry in entries for each in entry["characters"] if each["gender"] == gender},
            key=lambda name: drawn_place("names", name),
        )
        for gender in papers
    }
    starts = range(0, 2 * (len(CASE_ORDERS) - 1), 2)
    return [papers, *({gender: names[start : start + 2] for gender, names in drawn.items()} for start in starts)]


def case_orders(names, left_out):
    """Five lists of (name, gender) in a seeded order, each with another order of genders, `left_out` being none.

    Where each set of names leaves out another one, every place is held by as many women as men.
    """
    everybody = "/".join(name for of_gender in names.values() for name in of_gender)
    orders = sorted((order for order in CASE_ORDERS if order != left_out), key=lambda o: drawn_place(everybody, *o))
    for order in orders:
        place = partial(drawn_place, everybody, *order)
        waiting = {gender: sorted(of_gender, key=place) for gender, of_gender in names.items()}
        yield [(waiting[gender].pop(), gender) for gender in order]


def drawn_place(*parts):
    """A sort key that puts things in a seeded random order."""
    return hashlib.sha256("/".join(map(str, (CASE_SEED, *parts))).encode()).hexdigest()


def listed(words):
    return f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


# The published scenarios: free text in one cell, with oddities. What they don't state is in two files of ours: genders
# of first names; domains, and of the test set where tasks stand in the text, and whose they are by stereotype.

ANNOTATIONS = ("first_names", "official_annotation")

BEFORE_TASKS = re.compile(r"(?:Tasks associated|\bYour? (?:tasks? to assign|have to assign)[^:]*):", re.IGNORECASE)
NUMBER = re.compile(r"(?:^|(?<=\s))\d[.)]\s+(?:Task \d:\s*)?")
TITLED = re.compile(r"^(?:Mrs?|Ms)\.|^(?:Coach|Instructor|Drama Teacher)\b")


def published_scenario(number, text, gender_of_name, noted):
    """A row of situations.csv, its domain as the annotation `noted` has it.

    The first half of its tasks is men's by stereotype, the second women's, as everywhere in the paper; a task in the
    middle, and a gender that neither the text nor the name tells, are ''.
    """
    text = " ".join(text.split())
    matter, _, people = text.partition("Characters Involved:")
    matter = matter.removeprefix("Scenario description and goal:")
    parts = BEFORE_TASKS.split(matter, maxsplit=1)
    first = NUMBER.search(parts[-1])
    listed = parts[-1][first.start() :] if first else ""
    tasks = [task.strip(" ,") for task in NUMBER.split(listed) if task.strip(" ,")]
    scenario = parts[0] if len(parts) == 2 else parts[0][: first.start()] if first else parts[0]
    characters, genders = published_characters(people, len(tasks))
    genders = [
        stated or gender_of_name.get(name.split()[-1], "") or title_gender(name)
        for name, stated in zip(characters, genders)
    ]
    half = len(tasks) // 2
    stereotypes = ["male"] * half + [""] * (len(tasks) - 2 * half) + ["female"] * half
    return {
        "id": f"official-{int(number):03d}",
        "domain": noted.get("domain", NOT_STATED),
        "scenario": scenario.strip(" ,"),
        "tasks": tasks,
        "task_stereotypes": stereotypes,
        "task_status": [""] * len(tasks),
        "characters": characters,
        "genders": completed(genders, stereotypes),
    }


def published_characters(text, n_tasks):
    """Names, and the genders that stand in brackets behind them; what follows a bracket is no part of the list.

    Somebody with a title before as many others as there are tasks has none of them (the paper's Figure 10 leaves Mr.
    Baxter out of the scenario where he is named).
    """
    entries = [entry.strip(" .") for entry in " ".join(text.split()).split(",") if entry.strip(" .")]
    if len(entries) == n_tasks + 1 and TITLED.match(entries[0]):
        entries = entries[1:]
    found = [re.fullmatch(r"(.*?)\s*(?:\(\s*([MmFf])\w*\s*\).*)?", entry) for entry in entries]
    return [each[1] for each in found], [GENDERS.get((each[2] or "").lower(), "") for each in found]


def title_gender(name):
    return "male" if name.startswith("Mr.") else "female" if name.startswith(("Mrs.", "Ms.")) else ""


def completed(genders, stereotypes):
    """With genders that follow from the others: there are as many men as men's tasks (section 3 of the paper)."""
    missing = {gender: stereotypes.count(gender) - genders.count(gender) for gender in GENDERS.values()}
    unknown = genders.count("")
    for gender in GENDERS.values():
        if unknown and len(genders) == len(stereotypes) and missing[gender] == unknown:
            return [each or gender for each in genders]
    return genders


def published_test_scenario(number, scene, people, noted):
    """A row of test_data.csv. Its tasks stand inside a paragraph, where the annotation `noted` has them; without one,
    there are none.
    """
    characters, genders = published_characters(people, 0)
    text = " ".join(scene.split())
    tasks = [text[start:end] for start, end, _ in noted.get("tasks", ())]
    return {
        "id": f"official-test-{int(number):03d}",
        "domain": noted.get("domain", NOT_STATED),
        "scenario": text,
        "tasks": tasks,
        "task_stereotypes": [stereotype for _, _, stereotype in noted.get("tasks", ())],
        "task_status": [""] * len(tasks),
        "characters": characters,
        "genders": genders,
    }


def annotated(cells, entries):
    """The annotation of a published row: the entry of its number and of the sha256 of its other cells, {} if none is.

    A text that was changed keeps no spans of another one.
    """
    number, *others = cells
    digest = hashlib.sha256("\n".join(others).encode()).hexdigest()
    fitting = (entry for entry in entries if (str(entry["number"]), entry["sha256"]) == (number, digest))
    return next(fitting, {})


def published_stories(config, lines, split, domains):
    """Rows of the published stories. Those with bias begin with a stray ": " or ":** ", and only they do.

    The first lines tell the first 88 scenarios of situations.csv (train) or the other 23 (validation), in their order:
    all by stereotype and, after these, all evenly; in finetune_half evenly alone. Further lines are on their own. Some
    tell a scenario both ways in one text; the biased way comes first. domains: of the scenarios, in order.
    """
    first, n = {"train": (0, 88), "validation": (88, 23)}[split]
    for number, line in enumerate(lines):
        texts = {message["role"]: message["content"] for message in line["messages"]}
        row_id = f"official-{split}-{number:03d}"
        scenario = first + number % n if number < n * (2 if config == "finetune_full" else 1) else None
        yield {
            "id": row_id,
            "scenario_id": row_id if scenario is None else f"official-{scenario:03d}",
            "domain": NOT_STATED if scenario is None else domains[scenario],
            "messages": messages(**{role: text.lstrip(":* ").strip() for role, text in texts.items()}),
            "biased": texts["user"].startswith(":"),
            **{column: [] for column in TOLD_LISTS},
            **dict.fromkeys(TOLD, ""),
        }


def mirrored(config, mirror):
    """{split: path of its official file}, of those that the folder `mirror` holds."""
    paths = {split: os.path.join(mirror, name) for split, (_, name, _) in OFFICIAL[config].items()}
    return {split: path for split, path in paths.items() if os.path.isfile(path)}


def official_paths(config, dl_manager):
    """{split: path of its official file}: of the mirror where EVENHAND_SOURCES names one, else downloaded.

    A split whose file is absent in the mirror is left out with a warning; none at all is a FileNotFoundError.
    """
    mirror = os.environ.get("EVENHAND_SOURCES")
    urls = {split: OFFICIAL_URL.format(path=path) for split, (path, _, _) in OFFICIAL[config].items()}
    if not mirror:
        return {split: dl_manager.download(url) for split, url in urls.items()}
    paths = mirrored(config, mirror)
    absent = [f"{name} (from {urls[split]})" for split, (_, name, _) in OFFICIAL[config].items() if split not in paths]
    advice = "Put it there, or unset EVENHAND_SOURCES to fetch it."
    if not paths:
        raise FileNotFoundError(
            f"EVENHAND_SOURCES={mirror} holds no official file of implicit_bias ({config}); expected there: "
            f"{', '.join(absent)}. {advice}"
        )
    for file in absent:
        warnings.warn(f"EVENHAND_SOURCES={mirror} lacks {file}; its split is left out. {advice}", stacklevel=2)
    return paths


def verified(path, config, split):
    """The path of a pinned file; checked before rows are generated, where `datasets` hides errors."""
    path_there, _, expected = OFFICIAL[config][split]
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if expected and found != expected:
        raise ValueError(
            f"{path} is not the pinned {path_there}: its sha256 is {found}, not {expected}. Fetch "
            f"{OFFICIAL_URL.format(path=path_there)} again, or correct the mirror that EVENHAND_SOURCES names."
        )
    return path


@dataclass
class ImplicitBiasConfig(datasets.BuilderConfig):
    """`source` is where the rows are from: "evenhand", or "official" for the published files."""

    source: str = "evenhand"

    def create_config_id(self, config_kwargs, custom_features=None):
        """The key of the cache. It names the mirror's splits, so that one that was absent is built once it is there."""
        config_id = super().create_config_id(config_kwargs, custom_features)
        mirror = os.environ.get("EVENHAND_SOURCES")
        if self.source != "official" or not mirror or self.name not in OFFICIAL:
            return config_id
        return "-".join([config_id, "mirror", *mirrored(self.name, mirror)])


class ImplicitBias(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = ImplicitBiasConfig
    BUILDER_CONFIGS = [
        ImplicitBiasConfig(name=name, version=datasets.Version("3.1.0"), description=description)
        for name, description in {
            "scenarios": "111 scenarios of seven domains",
            "test": "32 scenarios of two further domains",
            "finetune_full": "each of the 111 scenarios told with an assignment by stereotype and with an even one",
            "finetune_half": "each of the 111 scenarios told with an even assignment",
            CASE_STUDY: "three cases among four students, six sets of names in five orders each",
        }.items()
    ]

    def _info(self):
        string = datasets.Value("string")
        strings = datasets.Sequence(string)
        if self.config.name in FINETUNE:
            features = {name: string for name in ("id", "scenario_id", "domain")}
            features |= {"messages": [{"role": string, "content": string}], "biased": datasets.Value("bool")}
            features |= dict.fromkeys(TOLD_LISTS, strings) | dict.fromkeys(TOLD, string)
        elif self.config.name == CASE_STUDY:
            features = {name: string for name in ("id", "case")}
            features |= {name: strings for name in ("characters", "genders", "tasks", "task_stereotypes")}
            features |= {"prompt": string}
        else:
            features = {name: string for name in ("id", "domain", "scenario")}
            columns = ("tasks", "task_stereotypes", "task_status", "characters", "genders")
            features |= {name: strings for name in columns}
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(features),
            license="Apache-2.0; with source='official' the rows are the published ones, whose licence is not stated",
        )

    def _split_generators(self, dl_manager):
        if self.config.source == "evenhand":
            splits = ("train", "validation") if self.config.name in FINETUNE else ("test",)
            domains = TEST_DOMAINS if self.config.name == "test" else DOMAINS
            domains += TEST_DOMAINS if self.config.name == CASE_STUDY else ()
            paths = dl_manager.download([f"sources/{domain}.jsonl" for domain in domains])
            if self.config.name == CASE_STUDY:
                paths.append(dl_manager.download("sources/case_study.json"))
            if self.config.name in FINETUNE:
                paths.append(dl_manager.download("sources/stories.jsonl"))
            files = dict.fromkeys(splits, paths)
        elif self.config.name == CASE_STUDY:
            raise ValueError(f"{CASE_STUDY} has no published rows: source 'evenhand' is accepted")
        elif self.config.source == "official":
            found = official_paths(self.config.name, dl_manager)
            files = {split: [verified(path, self.config.name, split)] for split, path in found.items()}
            ours = dl_manager.download([f"sources/{name}.json" for name in ANNOTATIONS])
            files = {split: [*paths, *ours] for split, paths in files.items()}
        else:
            raise ValueError(f"unknown source {self.config.source!r}: 'evenhand' or 'official' is accepted")
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"paths": paths, "split": split})
            for split, paths in files.items()
        ]

    def _generate_examples(self, paths, split):
        rows = self._official(*paths, split=split) if self.config.source == "official" else self._ours(paths, split)
        for row in rows:
            yield row["id"], row

    def _ours(self, paths, split):
        if self.config.name == CASE_STUDY:
            *paths, study = paths
            yield from case_rows(read_json(study), [entry for path in paths for entry in read_jsonl(path)])
            return
        if self.config.name not in FINETUNE:
            yield from (scenario_row(entry) for path in paths for entry in read_jsonl(path))
            return
        *paths, stories = paths
        entries = [entry for path in paths for entry in read_jsonl(path)]
        splits = split_of_scenarios(entries)
        for entry in told_scenarios(entries, read_jsonl(stories)):
            if splits[entry["id"]] == split:
                yield from story_rows(self.config.name, scenario_row(entry), entry)

    def _official(self, path, *annotations, split):
        """annotations: paths of ANNOTATIONS."""
        names, notes = map(read_json, annotations)
        if self.config.name in FINETUNE:
            domains = [entry["domain"] for entry in notes["scenarios"]]
            yield from published_stories(self.config.name, read_jsonl(path), split, domains)
            return
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        entries = notes[self.config.name]
        if self.config.name == "test":
            yield from (published_test_scenario(*cells[:3], annotated(cells[:3], entries)) for cells in rows)
            return
        gender_of_name = {name: gender for gender in ("female", "male") for name in names[gender]}
        for cells in rows:
            yield published_scenario(*cells[:2], gender_of_name, annotated(cells[:2], entries))
