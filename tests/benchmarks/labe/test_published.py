"""Published figures stand beside the runs that they belong to: whole set, sample of 96, texts by people."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.labe.findings import describe_extremes
from evenhand.benchmarks.labe.preprocessing import PROFESSIONS
from evenhand.benchmarks.labe.published import HUMAN_TEXTS, differences_from_paper
from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.configuration import run_config
from evenhand.language_agency import named_classifiers
from evenhand.language_agency.recipes import RECIPES

RECIPE = json.loads(json.dumps(asdict(RECIPES["bert"])))
BERT_ON_LAC = {"base": "google-bert/bert-base-cased", "data": "LAC (Wan & Chang 2024)", "recipe": RECIPE}
LABE = get_benchmark("labe")
BERTS = ("bert-0", "bert-1", "bert-2")
THREE = {name: BERT_ON_LAC | {"seed": seed} for seed, name in enumerate(BERTS)}
PLAIN = {"layout": "plain", "own_prompts": "keep"}
SOURCES = Path(__file__).parents[4] / "shared" / "sources" / "labe"


@pytest.fixture(autouse=True)
def bert(monkeypatch):
    """Folders named "bert-0", "bert-1" and "bert-2" are the paper's classifiers."""
    known = {f"bert-{seed}": BERT_ON_LAC | {"seed": seed} for seed in range(3)}
    monkeypatch.setattr(named_classifiers, "_record", lambda path: known.get(path, {}))


def published(classifiers=BERTS, splitter="published", **options):
    return LABE.configuring.published(
        LABE.configuring.filled(run_config("labe", classifiers=classifiers, splitter=splitter, **options))
    )


def value(records, figure, model="ChatGPT", **groups):
    """The one record of just this figure, model and group; None where there is none."""
    wanted = {"model": model, "figure": figure, **groups}
    found = [each["value"] for each in records if dict(each.items() ^ wanted.items()).keys() == {"value", "source"}]
    assert len(found) < 2
    return found[0] if found else None


def test_the_whole_set_has_tables_1_and_19_to_27():
    """Rows of a paper's model stand beside runs in its layout: ChatGPT's chat, Mistral's and Llama3's plain text."""
    chat, plain = published(), published(**PLAIN)
    assert value(chat, "gender_variance", text_type="professor_review") == 22.25
    assert value(plain, "gender_difference", "Llama3", text_type="professor_review") == 11.52
    assert value(plain, "gap", "Mistral", text_type="biography", race="Hispanic") == 3.86
    assert value(plain, "agentic", "Mistral", text_type="biography", race="White", gender="male") == 60.69
    people = {"written by people", "Wan et al. (2023a)"}
    assert {each["model"] for each in chat} == {"ChatGPT"} | people
    assert {each["model"] for each in plain} == {"Mistral", "Llama3"} | people
    assert value(chat, "gender_difference", "Wan et al. (2023a)", text_type="reference_letter") == 4.64


def test_the_sample_of_96_has_table_2_by_mitigation():
    by_paper = {"rewrite_decoding": "default"}
    gender = {
        mitigation: value(
            published(sample=96, mitigation=mitigation, **(by_paper if mitigation == "selective-rewrite" else {})),
            "gender_variance",
            text_type="biography",
        )
        for mitigation in (None, "fairness-instruction", "selective-rewrite")
    }
    assert gender == {None: 21.93, "fairness-instruction": 29.55, "selective-rewrite": 6.59}
    chat, plain = (published(sample=96, mitigation="fairness-instruction", **each) for each in ({}, PLAIN))
    assert value(plain, "gender_difference", "Mistral", text_type="professor_review") == 15.27
    assert value(chat, "gap", text_type="biography", race="White", gender="male") == -20.86
    assert value(plain, "gap", "Llama3", text_type="professor_review", race="Asian", gender="female") == 3.15
    assert {each["figure"] for each in published(sample=96)} == {
        "overall", "gender_variance", "race_variance", "intersectional_variance"
    }  # fmt: skip


def test_rewritten_professor_reviews_have_table_3():
    """Of black women 51.34 % of sentences are agentic, so 48.66 % communal: 2.68 points apart."""
    rewritten = {"sample": 96, "mitigation": "selective-rewrite", "rewrite_decoding": "default", **PLAIN}
    gaps = [each for each in published(**rewritten) if each["figure"] == "gap"]
    assert {(each["model"], each["text_type"]) for each in gaps} == {("Mistral", "professor_review")}
    assert len(gaps) == 8
    assert value(gaps, "gap", "Mistral", text_type="professor_review", race="Black", gender="female") == 2.68
    assert "gap" not in {each["figure"] for each in published(**rewritten, configs=("biography",))}


def test_texts_by_people_have_tables_16_to_18():
    reviews, biographies, letters = (published(texts="file.csv", preprocess=each) for each in HUMAN_TEXTS)
    human = {"model": "written by people", "text_type": "texts"}
    assert value(reviews, "gender_difference", **human) == 1.86
    assert value(reviews, "gender_difference", **human, group="Accounting") == 43.91
    assert value(biographies, "gender_difference", **human, group="pastor") == 31.61
    assert {each["group"] for each in biographies if "group" in each} == set(PROFESSIONS)
    assert value(letters, "gap", "Wan et al. (2023a)", text_type="texts", gender="female") == 10.3
    models = {"ChatGPT": 6.57, "Mistral": 8.14, "Llama3": 11.52}  # Figure 2: beside those of models
    assert {name: value(reviews, "gender_difference", name, text_type="texts") for name in models} == models
    assert published(texts="file.csv") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("chatgpt_clg_professor.csv", 24.58), ("chatgpt_clg_bios.csv", 50.72),
     ("chatgpt_clg_professor_mitigate.csv", 37.55)],
)  # fmt: skip
def test_the_authors_texts_have_their_models_figures(name, expected, tmp_path):
    """A file is told by its bytes: with one more it is another file, and has none."""
    if not (SOURCES / name).is_file():
        pytest.skip("needs a mirror of the official files")
    found = published(texts=str(SOURCES / name))
    assert value(found, "overall", text_type="texts") == expected
    assert {each["text_type"] for each in found} == {"texts"}
    (tmp_path / name).write_bytes((SOURCES / name).read_bytes() + b"\n")
    assert published(texts=str(tmp_path / name)) == []


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [("mistral_clg_letters.csv", "Mistral", 37.53), ("llama3_clg_bios.csv", "Llama3", 37.11),
     ("llama_clg_professor_mitigate.csv", "Llama3", 9.48)],
)  # fmt: skip
def test_plain_texts_of_the_authors_count_their_prompts(name, model, expected, tmp_path):
    (tmp_path / name).write_text("text,gender\n")
    file = str(tmp_path / name)
    assert value(published(texts=file, own_prompts="keep"), "overall", model, text_type="texts") == expected
    assert published(texts=file) == []
    assert published(texts=str(tmp_path / "my.csv"), own_prompts="keep") == []


# Each way in which a run isn't the paper's, and what is said of it.
DEVIATIONS = [
    ({"limit": 10}, "a draw of 10 rows"),
    ({"sample": 48}, "a sample of 48"),
    ({"temperature": 0.5}, "sampling of its own"),
    ({"top_p": 0.9}, "sampling of its own"),
    ({"max_new_tokens": 96}, "at most 96 new tokens"),
    ({"runs": 3}, "3 texts of each prompt"),
    ({"mitigation": "fairness-instruction"}, "fairness-instruction on another set"),
    ({"splitter": "sentencex"}, "sentences cut by"),
    ({"splitter": "nltk"}, "sentences cut by"),
    ({"classifiers": ("lexicon",)}, "another classifier: lexicon"),
    ({"classifiers": ("default",)}, "another classifier: default"),
    ({"classifiers": (*BERTS, "lexicon")}, "another classifier: lexicon"),
    ({"classifiers": ("some/checkpoint",)}, "another classifier: some/checkpoint"),
    ({"classifiers": BERTS[:1]}, "classifiers of seed 0, not the mean over 0, 1, 2"),
    ({"classifiers": BERTS[1:]}, "classifiers of seed 1, 2, not"),
    ({"model": "mistralai/Mistral-7B-Instruct-v0.2"}, "prompts in the model's chat template"),
    ({"model": "meta-llama/Meta-Llama-3-8B-Instruct"}, "prompts in the model's chat template"),
    ({"model": "gpt-3.5-turbo", **PLAIN}, "prompts as plain text"),
    ({"layout": "plain"}, "texts without their prompt"),
    ({"texts": "file.csv"}, "texts of a file, neither the authors'"),
    ({"texts": "file.csv", "preprocess": "ratemyprofessor", "limit": 10}, "a draw of 10 texts"),
    (
        {"texts": "file.csv", "preprocess": "ratemyprofessor", "mitigation": "selective-rewrite",
         "rewrite_decoding": "default"},
        "selective-rewrite on texts of a file",
    ),
    *(
        ({"sample": 96, "mitigation": "selective-rewrite", "rewrite_decoding": "default", **changed}, said)
        for changed, said in [
            ({"rewrite_mode": "sentence"}, "texts rewritten sentence by sentence"),
            ({"rewriter": "embedded"}, "texts rewritten by embedded"),
            ({"accept": "judged"}, "edits refused"),
            ({"rewrite_decoding": "greedy"}, "edits decoded greedily"),
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "said"), DEVIATIONS, ids=lambda value: str(value)[:60])
def test_a_run_that_differs_says_so_and_has_no_published_rows(changed, said):
    config = LABE.configuring.filled(run_config("labe", **{"classifiers": BERTS, "splitter": "published", **changed}))
    [difference] = LABE.configuring.differs(config)
    assert difference.startswith(said)
    assert LABE.configuring.published(config) == []


def test_several_differences_are_all_said():
    several = {"limit": 10, "runs": 2, "temperature": 0.5, "max_new_tokens": 96, "mitigation": "fairness-instruction"}
    config = LABE.configuring.filled(run_config("labe", splitter="published", **several))
    assert len(differences_from_paper(config, THREE)) == 5
    [other] = differences_from_paper(
        LABE.configuring.filled(run_config("labe", splitter="published")),
        THREE | {"m": {"base": "embedded", "data": "language_agency"}},
    )
    assert other.startswith("another classifier: m (embedded trained on language_agency), not")


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
    said = differences_from_paper(config, {name: each | {"recipe": RECIPE | changed} for name, each in THREE.items()})
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
