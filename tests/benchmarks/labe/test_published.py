"""Published figures stand beside the runs that they belong to: whole set, sample of 96, texts by people."""

import json
from dataclasses import asdict

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.labe.findings import describe_extremes
from evenhand.benchmarks.labe.preprocessing import PROFESSIONS
from evenhand.benchmarks.labe.published import differences_from_paper
from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.configuration import run_config
from evenhand.language_agency import named_classifiers
from evenhand.language_agency.recipes import RECIPES
from evenhand.language_agency.sentences import SPLITTERS

RECIPE = json.loads(json.dumps(asdict(RECIPES["bert"])))
BERT_ON_LAC = {"base": "google-bert/bert-base-cased", "data": "LAC (Wan & Chang 2024)", "recipe": RECIPE}
LABE = get_benchmark("labe")


@pytest.fixture(autouse=True)
def bert(monkeypatch):
    """A folder named "bert" is the paper's classifier."""
    known = {"bert": BERT_ON_LAC}
    monkeypatch.setattr(named_classifiers, "_record", lambda path: known.get(path, {}))


def published(classifiers=("bert",), splitter="published", **options):
    return LABE.published(
        LABE.configuring.filled(run_config("labe", classifiers=classifiers, splitter=splitter, **options))
    )


def value(records, figure, model="ChatGPT", **groups):
    """The one record of just this figure, model and group; None where there is none."""
    wanted = {"model": model, "figure": figure, **groups}
    found = [each["value"] for each in records if dict(each.items() ^ wanted.items()).keys() == {"value", "source"}]
    assert len(found) < 2
    return found[0] if found else None


def test_the_whole_set_has_tables_1_and_19_to_27():
    found = published()
    assert value(found, "gender_variance", text_type="professor_review") == 22.25
    assert value(found, "gender_difference", "Llama3", text_type="professor_review") == 11.52
    assert value(found, "gap", "Mistral", text_type="biography", race="Hispanic") == 3.86
    assert value(found, "agentic", "Mistral", text_type="biography", race="White", gender="male") == 60.69


def test_the_sample_of_96_has_table_2_by_mitigation():
    gender = {
        mitigation: value(published(sample=96, mitigation=mitigation), "gender_variance", text_type="biography")
        for mitigation in (None, "fairness-instruction", "selective-rewrite")
    }
    assert gender == {None: 21.93, "fairness-instruction": 29.55, "selective-rewrite": 6.59}
    found = published(sample=96, mitigation="fairness-instruction")
    assert value(found, "gender_difference", "Mistral", text_type="professor_review") == 15.27
    assert value(found, "gap", text_type="biography", race="White", gender="male") == -20.86
    assert value(found, "gap", "Llama3", text_type="professor_review", race="Asian", gender="female") == 3.15
    assert {each["figure"] for each in published(sample=96)} == {
        "overall", "gender_variance", "race_variance", "intersectional_variance"
    }  # fmt: skip


def test_rewritten_professor_reviews_have_table_3():
    """Of black women 51.34 % of sentences are agentic, so 48.66 % communal: 2.68 points apart."""
    rewritten = {"sample": 96, "mitigation": "selective-rewrite"}
    gaps = [each for each in published(**rewritten) if each["figure"] == "gap"]
    assert {(each["model"], each["text_type"]) for each in gaps} == {("Mistral", "professor_review")}
    assert len(gaps) == 8
    assert value(gaps, "gap", "Mistral", text_type="professor_review", race="Black", gender="female") == 2.68
    assert "gap" not in {each["figure"] for each in published(**rewritten, configs=("biography",))}


def test_texts_by_people_have_tables_16_to_18():
    reviews, biographies = (
        published(texts="file.csv", preprocess=each) for each in ("ratemyprofessor", "bias_in_bios")
    )
    human = {"model": "written by people", "text_type": "texts"}
    assert value(reviews, "gender_difference", **human) == 1.86
    assert value(reviews, "gender_difference", **human, group="Accounting") == 43.91
    assert value(biographies, "gender_difference", **human, group="pastor") == 31.61
    assert {each["group"] for each in biographies if "group" in each} == set(PROFESSIONS)
    assert published(texts="file.csv") == []


def test_other_protocols_have_none():
    for options in (
        {"limit": 10},
        {"sample": 48},
        {"temperature": 0.5},
        {"max_new_tokens": 96},
        {"mitigation": "fairness-instruction"},
        {"runs": 3},
        {"top_p": 0.9},
        {"classifiers": ("lexicon",)},
        {"classifiers": ("default",)},
        {"classifiers": ("bert", "lexicon")},
        {"classifiers": ("some/checkpoint",)},
        {"texts": "file.csv", "preprocess": "ratemyprofessor", "limit": 10},
        {"sample": 96, "mitigation": "selective-rewrite", "rewrite_mode": "sentence"},
        {"sample": 96, "mitigation": "selective-rewrite", "rewriter": "embedded"},
        {"sample": 96, "mitigation": "selective-rewrite", "accept": "judged"},
    ):
        assert published(**options) == [], options


def test_what_differs_is_said():
    def said(trained, **options):
        return differences_from_paper(
            LABE.configuring.filled(run_config("labe", **{"splitter": "published", **options})), trained
        )

    assert said({"a": BERT_ON_LAC, "b": BERT_ON_LAC}) == ()
    assert said({"string matching": {}}) == (
        "another classifier: string matching (its training is not known), not BERT trained on LAC (Wan & Chang 2024) "
        "by --recipe bert",
    )
    [other] = said({"m": {"base": "embedded", "data": "language_agency"}, "a": BERT_ON_LAC})
    assert other.startswith("another classifier: m (embedded trained on language_agency), not")
    several = said({}, limit=10, runs=2, temperature=0.5, max_new_tokens=96, mitigation="fairness-instruction")
    assert [each.split(",")[0] for each in several] == [
        "a draw of 10 rows",
        "fairness-instruction on another set than a sample of 96",
        "sampling of its own",
        "at most 96 new tokens",
        "2 texts of each prompt",
    ]
    assert said({}, texts="file.csv")[0].startswith("texts of a file, not chosen as the paper chose")
    rewritten = {"sample": 96, "mitigation": "selective-rewrite"}
    assert said({}, **rewritten, accept="all") == ()
    [judged] = said({}, **rewritten, accept="judged")
    assert "--accept judged" in judged


@pytest.mark.parametrize(
    ("changed", "papers"),
    [
        ({}, True),
        ({"learning_rate": 5e-6}, True),  # the published script's default
        ({"base": "/models/bert-base-cased", "source": ""}, True),
        ({"learning_rate": 2e-5}, False),
        ({"weight_decay": 0.01}, False),
        ({"best_epoch": True, "last_step": None}, False),
        ({"epochs": 3}, False),
    ],
)
def test_the_papers_classifier_was_trained_by_the_papers_recipe(changed, papers):
    config = LABE.configuring.filled(run_config("labe", splitter="published"))
    said = differences_from_paper(config, {"b": BERT_ON_LAC | {"recipe": RECIPE | changed}})
    assert (said == ()) == papers
    assert papers or "trained on LAC (Wan & Chang 2024) by another recipe than the paper's" in said[0]
    assert differences_from_paper(config, {"b": {name: BERT_ON_LAC[name] for name in ("base", "data")}}) != ()


def test_a_folder_of_seeds_is_known_by_its_records(tmp_path, monkeypatch):
    monkeypatch.undo()
    for seed in (0, 1):
        folder = tmp_path / f"seed-{seed}"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "agency.json").write_text('{"base": "b", "data": "d"}')
    assert named_classifiers.load_records([str(tmp_path), "lexicon", "some/checkpoint"]) == {
        f"{tmp_path}/seed-0": {"base": "b", "data": "d"},
        f"{tmp_path}/seed-1": {"base": "b", "data": "d"},
        "lexicon": {},
        "some/checkpoint": {},
    }


@pytest.mark.parametrize(
    "options", [{}, {"sample": 96}, {"texts": "file.csv", "preprocess": "ratemyprofessor"}], ids=str
)
@pytest.mark.parametrize("splitter", ["sentencex", "published", "nltk"])
def test_texts_cut_by_other_rules_differ_from_the_papers(splitter, options):
    """Its rows stand beside the published script's sentences alone; else the report says which rules cut the texts."""
    assert bool(published(splitter=splitter, **options)) == (splitter == "published")
    said = LABE.configuring.differs(
        LABE.configuring.filled(run_config("labe", classifiers=("bert",), splitter=splitter, **options))
    )
    assert said == (
        ()
        if splitter == "published"
        else (
            f"sentences cut by {SPLITTERS[splitter]}, not by the rules of the paper's published script "
            "(--splitter published)",
        )
    )


@pytest.mark.parametrize(("p", "said"), [(0.002, "p = 0.002"), (0.42, "p = 0.420"), (float("nan"), "no test")])
def test_the_most_agentic_group_is_not_named_without_a_test(p, said):
    gaps = {"male": 10.0, "female": -10.0, "White male": 20.0, "White female": -1.0}
    rows = [FigureRow("p_value", {"text_type": "t", "tested": "intersectional_variance"}, p)]
    for name, gap in gaps.items():
        race, _, gender = name.rpartition(" ")
        rows.append(FigureRow("gap", {"text_type": "t", "gender": gender} | ({"race": race} if race else {}), gap))
    sentence = describe_extremes(FigureTable(rows), "t")
    assert sentence.startswith("t: most agentic White male (+20.0), least White female (-1.0; ")
    assert said in sentence
