"""Published figures stand beside the runs that they belong to: whole set, sample of 96, texts by people."""

import json
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.labe import findings
from evenhand.benchmarks.labe.published import differs
from evenhand.flow.configuration import run_config
from evenhand.language_agency import named_classifiers
from evenhand.language_agency.recipes import RECIPES
from evenhand.language_agency.splitters import SPLITTERS

RECIPE = json.loads(json.dumps(asdict(RECIPES["bert"])))
BERT_ON_LAC = {"base": "google-bert/bert-base-cased", "data": "LAC (Wan & Chang 2024)", "recipe": RECIPE}
LABE = get_benchmark("labe")


@pytest.fixture(autouse=True)
def bert(monkeypatch):
    """A folder named "bert" is the paper's classifier."""
    known = {"bert": BERT_ON_LAC}
    monkeypatch.setattr(named_classifiers, "_record", lambda path: known.get(path, {}))


def published(classifiers=("bert",), splitter="published", **options):
    return LABE.published(LABE.filled(run_config("labe", classifiers=classifiers, splitter=splitter, **options)))


def test_the_whole_set_has_tables_1_and_19_to_27():
    beside = published()
    assert beside["variances"]["ChatGPT"]["professor_review"]["gender_variance"] == 22.25
    assert beside["differences"]["Llama3"]["professor_review"] == 11.52
    assert {"White male", "Asian female", "Hispanic"} <= set(beside["gaps"]["Mistral"]["biography"])


def test_the_sample_of_96_has_table_2_by_mitigation():
    gender = {
        mitigation: published(sample=96, mitigation=mitigation)["variances"]["ChatGPT"]["biography"]["gender_variance"]
        for mitigation in (None, "fairness-instruction", "selective-rewrite")
    }
    assert gender == {None: 21.93, "fairness-instruction": 29.55, "selective-rewrite": 6.59}
    instructed = published(sample=96, mitigation="fairness-instruction")
    assert instructed["differences"]["Mistral"]["professor_review"] == 15.27
    assert instructed["gaps"]["ChatGPT"]["biography"]["White male"] == -20.86
    assert instructed["gaps"]["Llama3"]["professor_review"]["Asian female"] == 3.15  # Table 28
    assert "gaps" not in published(sample=96)


def test_rewritten_professor_reviews_have_table_3():
    """Of black women 51.34 % of sentences are agentic, so 48.66 % communal: 2.68 points apart."""
    rewritten = {"sample": 96, "mitigation": "selective-rewrite"}
    [(model, by_type)] = published(**rewritten)["gaps"].items()
    [(text_type, gaps)] = by_type.items()
    assert (model, text_type, len(gaps)) == ("Mistral", "professor_review", 8)
    assert gaps["Black female"] == 2.68
    assert "Table 3" in published(**rewritten)["source"]
    assert "gaps" not in published(**rewritten, configs=("biography",))
    group = {"agentic": 50.0, "communal": 50.0, "gap": 0.0, "n": 1}
    of = {"groups": {"Black female": group}, "intervals": {}}
    results = SimpleNamespace(
        metrics={"by": {"text_type": {"biography": of, "professor_review": of}, "classifier": {"b": {}}}},
        published=published(**rewritten),
        config=run_config("labe", "stub:first").to_json(),
        model_name="stub:first",
    )
    assert [row[-1].text for row in findings._groups(results).rows] == ["", "2.68"]


def test_texts_by_people_have_tables_16_to_18():
    reviews, biographies = (
        published(texts="file.csv", preprocess=each) for each in ("ratemyprofessor", "bias_in_bios")
    )
    assert reviews["differences"] == {"written by people": {"texts": 1.86}}
    assert reviews["strata"]["Accounting"] == 43.91
    assert biographies["strata"]["Pastor"] == 31.61
    assert published(texts="file.csv") == {}


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
        assert published(**options) == {}, options


def test_what_differs_is_said():
    def said(trained, **options):
        return differs(LABE.filled(run_config("labe", **{"splitter": "published", **options})), trained)

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
    config = LABE.filled(run_config("labe", splitter="published"))
    said = differs(config, {"b": BERT_ON_LAC | {"recipe": RECIPE | changed}})
    assert (said == ()) == papers
    assert papers or "trained on LAC (Wan & Chang 2024) by another recipe than the paper's" in said[0]
    assert differs(config, {"b": {name: BERT_ON_LAC[name] for name in ("base", "data")}}) != ()


def test_a_folder_of_seeds_is_known_by_its_records(tmp_path, monkeypatch):
    monkeypatch.undo()
    for seed in (0, 1):
        folder = tmp_path / f"seed-{seed}"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "agency.json").write_text('{"base": "b", "data": "d"}')
    assert named_classifiers.records([str(tmp_path), "lexicon", "some/checkpoint"]) == {
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
    said = LABE.differs(LABE.filled(run_config("labe", classifiers=("bert",), splitter=splitter, **options)))
    assert said == (
        ()
        if splitter == "published"
        else (
            f"sentences cut by {SPLITTERS[splitter]}, not by the rules of the paper's published script "
            "(--splitter published)",
        )
    )


def test_every_table_with_published_rows_says_what_they_are_of():
    of = {"groups": {}, "gender_difference": 1.0, "gender_difference_by_race": {}, "p_values": {}, "chance": {}}
    values = {name: {"agentic": 1, "communal": 1, "gap": 0, "gender_difference": 0, "n": 1} for name in "ab"}
    of |= {"groups_of": {"occupation": values}, "variances": {"occupation": 1.0}}
    results = SimpleNamespace(
        metrics={"by": {"text_type": {"biography": of}, "classifier": {"b": {}}}},
        published={"source": "Table 1", "gaps": {}, "strata": {"a": 1.0}},
        config=run_config("labe", "stub:first").to_json(),
        model_name="stub:first",
    )
    assert findings._differences(results).note.endswith(" Published: Table 1.")
    assert findings._strata(results)[0].note.endswith(" Published: Table 1.")
    results.published["gaps"] = {"ChatGPT": {"biography": {}}}
    assert findings._groups(results).note.endswith(" Published: Table 1.")
    results.metrics["by"]["text_type"] = {}
    assert findings._table_1(results, "name").note.endswith(" Published: Table 1.")


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.002, "groups differ (p 0.002)."), (0.42, "chance may do that (p 0.420)."), (None, "no test is possible.")],
)
def test_the_most_agentic_group_is_not_named_without_a_test(p, said):
    gaps = {"male": 10.0, "female": -10.0, "White": 5.0, "White male": 20.0, "White female": -1.0}
    of = {
        "groups": {name: {"gap": gap} for name, gap in gaps.items()},
        "gender_difference_by_race": {"White": 21.0},
        "p_values": {"intersectional_variance": p, "gender_variance": 0.001},
    }
    sentence = findings._extremes(of)
    assert sentence.startswith(" Most agentic: White male (+20.0), least: White female (-1.0); ")
    assert sentence.endswith(said)


def test_intervals_over_texts_are_said_to_be():
    results = SimpleNamespace(
        metrics={"by": {"text_type": {}}},
        published={"source": "Table 1"},
        config=run_config("labe", "stub:first").to_json(),
        model_name="stub:first",
    )
    by_name, by_text = (findings._table_1(results, unit).note for unit in ("name", "text"))
    assert "bootstrap over people's names." in by_name
    assert "names" not in by_text
    assert "bootstrap over texts, for nobody is named." in by_text
