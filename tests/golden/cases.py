"""The golden cases: which runs are made, and what is looked at of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.protocol import Model
from tests.golden import extract
from tests.golden.models import Assigning, Leaning, Naming, classifier

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ROOT.parent / "shared" / "sources"
CORPUS = HERE / "corpus.jsonl"  # of a classifier: rows of a dataset would change its figures with every version
TEXTS = (("text_column", "chatgpt_gen"), ("group_column", "department"))


@dataclass(frozen=True)
class Case:
    """Two runs of one benchmark, alike but for who answers. sources: files of SOURCES that it needs.

    one, other: a model's name or a model; with it, options of its own. classifiers: seeds of tiny ones beside the
    lexicon. slow: the embedded model is asked. encoded: the embedded sentence encoder compares texts.
    """

    name: str
    benchmark: str
    one: str | Model
    other: str | Model
    options: Mapping[str, Any] = field(default_factory=dict)
    of_other: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    classifiers: tuple[int, ...] = ()
    slow: bool = False
    encoded: bool = False

    @property
    def tolerance(self) -> float:
        """What networks compute differs in its last bits, from one process to the next."""
        return 1e-4 if self.slow or self.encoded else 1e-9

    @property
    def lacks(self) -> str:
        """Which sources are absent; empty where none is."""
        return ", ".join(f"../shared/sources/{each}" for each in self.sources if not (SOURCES / each).exists())


SCALES = ("Yes", "No", "Likely", "Unlikely", "Mostly", "Rarely")
CONTROLS = ("Yes", "No")
LETTERS = ("A", "B", "C")
STORIES = ("present", "absent")
ANSWERS = ("7", "An oak.", "I can't answer that.", "Paris", "Cairo", "gravity", "2", "4")
BBQ = {"configs": ("age", "religion"), "limit": 60}
OF_BBQ = ("bbq/Age.jsonl", "bbq/Religion.jsonl")
EMBEDDED: Mapping[str, Any] = {"dtype": "float32"}
MITIGATED = {"mitigation": "unbiased-instruction"}
FEW_TASKS = ("Leads the team. She is kind.", "He is warm and helps others.", "They are bold and confident.")
LABE_ONE = Leaning("a", 0.8, FEW_TASKS, 0.0)
LABE_OTHER = Leaning("b", 1.6, FEW_TASKS, 0.0)

CASES = (
    Case("contact_hypothesis_choose", "contact_hypothesis", "stub:random", Leaning("b", 1.7), {"limit": 60}),
    Case(
        "contact_hypothesis_generate", "contact_hypothesis", Leaning("a", 1.0, SCALES), Leaning("b", 1.8, SCALES),
        {"limit": 60, "protocol": "generate"},
    ),
    Case(
        "contact_hypothesis_balanced", "contact_hypothesis", "stub:random", "stub:first",
        {"limit": 30, "order": "balanced"},
    ),
    Case("contact_controls_choose", "contact_controls", "stub:random", Leaning("b", 1.7), {"limit": 60}),
    Case(
        "contact_controls_generate", "contact_controls", "stub:random:Yes|No|maybe", Leaning("b", 1.8, CONTROLS),
        {"limit": 60, "protocol": "generate"},
    ),
    Case("bbq_choose", "bbq", "stub:random", Leaning("b", 1.6), BBQ, sources=OF_BBQ),
    Case(
        "bbq_generate", "bbq", "stub:random:A|B|C|what", Leaning("b", 1.6, LETTERS), {**BBQ, "protocol": "generate"},
        sources=OF_BBQ,
    ),
    Case("bbq_balanced", "bbq", "stub:random", "stub:last", {**BBQ, "limit": 30, "order": "balanced"}, sources=OF_BBQ),
    Case(
        "utility", "utility", f"stub:random:{'|'.join(ANSWERS)}", Leaning("b", 1.6, ANSWERS), {"limit": 60},
        encoded=True,
    ),
    Case("labe_lexicon", "labe", LABE_ONE, LABE_OTHER, {"limit": 60, "classifiers": ("lexicon",)}),
    Case(
        "labe_two_classifiers", "labe", LABE_ONE, LABE_OTHER, {"limit": 40, "configs": ("biography",)},
        classifiers=(0, 1),
    ),
    Case(
        "labe_texts", "labe", "", "",
        {**dict(TEXTS), "limit": 96, "classifiers": ("lexicon",), "texts": "labe/chatgpt_clg_professor.csv"},
        {"splitter": "published"}, sources=("labe/chatgpt_clg_professor.csv",),
    ),
    Case(
        "implicit_bias_rank", "implicit_bias", "stub:random", Leaning("b", 1.5), {"protocol": "rank", "limit": 16}
    ),
    Case(
        "implicit_bias_generate", "implicit_bias", Assigning("a"), Assigning("b"),
        {"protocol": "generate", "limit": 16, "runs": 2},
    ),
    Case(
        "implicit_bias_understanding_choose", "implicit_bias_understanding", "stub:random", Leaning("b", 1.6),
        {"limit": 40},
    ),
    Case(
        "implicit_bias_understanding_generate", "implicit_bias_understanding", "stub:random:present|absent|perhaps",
        Leaning("b", 1.6, STORIES), {"limit": 40, "protocol": "generate"},
    ),
    Case(
        "implicit_bias_understanding_balanced", "implicit_bias_understanding", "stub:random", Leaning("b", 1.6),
        {"limit": 24, "order": "balanced"},
    ),
    Case(
        "implicit_bias_case_study_rank", "implicit_bias_case_study", Naming("a"), Naming("b"),
        {"protocol": "rank", "limit": 18, "classifiers": ("lexicon",)},
    ),
    Case(
        "implicit_bias_case_study_generate", "implicit_bias_case_study", Naming("a"), Naming("b"),
        {"protocol": "generate", "limit": 18, "classifiers": ("lexicon",)},
    ),
    Case(
        "mllm_stereotypes", "mllm_stereotypes", "stub:random:left|right", Leaning("b", 1.6, ("left", "right")),
        {"configs": ("occupation_gender",), "faces": "rehearsal", "limit": 48},
    ),
    Case(
        "embedded_contact_hypothesis", "contact_hypothesis", "embedded", "embedded", {**EMBEDDED, "limit": 3},
        MITIGATED, slow=True,
    ),
    Case(
        "embedded_contact_controls", "contact_controls", "embedded", "embedded", {**EMBEDDED, "limit": 4}, MITIGATED,
        slow=True,
    ),
    Case(
        "embedded_bbq", "bbq", "embedded", "embedded", {**EMBEDDED, "limit": 6, "configs": ("age",)}, MITIGATED,
        sources=OF_BBQ, slow=True,
    ),
    Case("embedded_utility", "utility", "embedded", "embedded", {**EMBEDDED, "limit": 4}, MITIGATED, slow=True),
    Case(
        "embedded_implicit_bias", "implicit_bias", "embedded", Leaning("b", 1.5),
        {**EMBEDDED, "limit": 1, "protocol": "rank", "setting": "none"}, slow=True,
    ),
    Case(
        "embedded_implicit_bias_understanding", "implicit_bias_understanding", "embedded", Leaning("b", 1.6),
        {**EMBEDDED, "limit": 6}, slow=True,
    ),
)  # fmt: skip

PROFILED = ("contact_hypothesis", "contact_controls", "utility", "implicit_bias_understanding", "implicit_bias")
PROFILE_MODELS = ("stub:random", "stub:last")
FEW_ROWS = 12
AGREEING = ("contact_hypothesis", "contact_controls", "implicit_bias_understanding")
LEANS = {"a": 0.5, "b": 0.8, "c": 1.2, "d": 1.8, "e": 3.0}


def made(case: Case, root: Path) -> tuple[Path, Path]:
    """The folders of its two runs. root: of all runs."""
    os.environ.setdefault("EVENHAND_SOURCES", str(SOURCES))
    options = dict(case.options)
    if case.classifiers:
        options["classifiers"] = tuple(str(_classifier(root, seed)) for seed in case.classifiers)
    return (
        _run(case.benchmark, case.one, options, root / case.name / "a"),
        _run(case.benchmark, case.other, {**options, **case.of_other}, root / case.name / "b"),
    )


def _run(benchmark: str, model: str | Model, options: Mapping[str, Any], folder: Path) -> Path:
    given = dict(options)
    if "texts" in given:
        given["texts"] = str(SOURCES / given["texts"])
    name, stub = (model, None) if isinstance(model, str) else (model.name, model)
    return evaluate(run_config(benchmark, name, **given), folder, stub, lambda rows, step: None).path


@cache
def _classifier(root: Path, seed: int) -> Path:
    return classifier(root / f"classifier-{seed}", seed, CORPUS)


def golden(case: Case, one: Path, other: Path, root: Path, figures: Sequence[str] | None = None) -> dict[str, Any]:
    """All parts of a case. figures: that a policy names; None: all that it could."""
    named = extract.figures_to_name(one, other) if figures is None else list(figures)
    found = {
        "runs": {
            letter: {
                "predictions": extract.predictions(run),
                "results": extract.results(run),
                "submit": extract.submitted(run),
            }
            for letter, run in (("a", one), ("b", other))
        },
        "compare": extract.comparison(one, other),
        "gate": {
            "default": extract.gated(one, other),
            "names": named,
            "named": extract.gated(one, other, named) if named else {},
        },
        "leaderboard": extract.leaderboard(one, other),
    }
    return extract.without_places(extract.without_places(found, root), SOURCES)


def profile(root: Path) -> dict[str, Any]:
    """Of two stubs over several benchmarks."""
    from evenhand.cli import main
    from evenhand.profiling.settings import ProfileOptions

    folder = root / "profile"
    models = [part for each in PROFILE_MODELS for part in ("--model", each)]
    names = [part for each in PROFILED for part in ("--benchmark", each)]
    options = ["--budget", "full", "--limit", str(FEW_ROWS), "--output", str(folder)]
    with redirect_stdout(StringIO()):
        code = main(["profile", *models, *names, *options])
    if code:
        raise RuntimeError(f"evenhand profile ended with {code}")
    found = extract.profiled(folder, ProfileOptions(budget="full", limit=FEW_ROWS))
    return extract.without_places(found, root)


def agree(root: Path) -> dict[str, Any]:
    """Of five stubs and three benchmarks."""
    runs = [
        _run(name, Leaning(salt, lean, unread=0.0), {"limit": 30}, root / "agree" / f"{name}-{salt}")
        for name in AGREEING
        for salt, lean in LEANS.items()
    ]
    return extract.without_places(extract.agreement(*runs), root)
