"""Language agency end to end: labels known from string matching, texts known from stubs and files."""

import hashlib
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from types import SimpleNamespace

import datasets
import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from evenhand import library
from evenhand.benchmarks.labe import published
from evenhand.benchmarks.labe.benchmark import Labe
from evenhand.cli import main
from evenhand.errors import UsageError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import RunConfig, run_config
from evenhand.flow.configuration import differences as differences_of_configs
from evenhand.flow.draw import draw
from evenhand.flow.evaluation import evaluate
from evenhand.flow.results import Results
from evenhand.flow.rows import drawn_rows
from evenhand.language_agency.lexicon import LexiconClassifier
from evenhand.models.request import Message, Reply, Sampling
from evenhand.models.stub import StubModel
from evenhand.report.comparison import compare
from evenhand.report.differences import differences, exploratory

RACES, GENDERS = ("White", "Black", "Hispanic", "Asian"), ("male", "female")
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")
AGENTIC, COMMUNAL = "This person is an ambitious leader.", "This person is kind and helps friends."
BOTH = f"{AGENTIC} {COMMUNAL}"  # a gap of 0
SMALLEST_P = pytest.approx(1 / 1001)  # of 1,000 permutations, none as large
DEPARTMENTS = 15
LABE = Labe()


def people(text_of, repeats=1):
    """Rows of a file: text_of(race, gender) as told of five people of each race and gender."""
    return [
        {"text": text_of(race, gender), "gender": gender, "race": race, "name": f"{race[0]}{gender[0]}{i}"}
        for race in RACES
        for gender in GENDERS
        for i in range(5)
        for _ in range(repeats)
    ]


def by_gender(race, gender):
    return AGENTIC if gender == "male" else COMMUNAL


def write(path, content):
    """The path of a file that holds rows, or these bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif path.suffix == ".csv":
        pd.DataFrame(content).to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pd.DataFrame(content).to_parquet(path)
    else:
        path.write_text("\n".join(json.dumps(row) for row in content), encoding="utf-8")
    return path


def run(folder, *options):
    """The finished run, labelled by string matching unless other classifiers are named."""
    classifiers = () if "--classifiers" in options else ("--classifiers", "lexicon")
    arguments = ["run", "labe", *options, *classifiers, "--output", folder]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main([str(argument) for argument in arguments])
    assert code == 0, err.getvalue()
    raw = (folder / "results.json").read_text(encoding="utf-8")
    results = Results.from_json(json.loads(raw, parse_constant=pytest.fail))  # NaN and Infinity are no JSON
    return SimpleNamespace(
        folder=folder, out=out.getvalue(), err=err.getvalue(), raw=raw, results=results, figures=results.figures,
        predictions=pd.read_parquet(folder / "predictions.parquet"),
        page=(folder / "report.html").read_text(encoding="utf-8"),
    )  # fmt: skip


@pytest.fixture
def texts(tmp_path):
    """texts(rows or bytes, "texts.csv") → the path of a file that holds them."""
    return lambda content, name="texts.csv": write(tmp_path / name, content)


@pytest.fixture
def labe(tmp_path):
    """labe("--texts", path, …) → the finished run."""
    return lambda *options, output="run": run(tmp_path / output, *options)


@pytest.fixture(scope="module")
def men_lead(tmp_path_factory):
    """A run on texts in which men lead and women help."""
    folder = tmp_path_factory.mktemp("men_lead")
    return run(folder / "run", "--texts", write(folder / "texts.csv", people(by_gender)))


@pytest.fixture(scope="module")
def white_men_lead(tmp_path_factory):
    """A run on texts in which White men lead, Asian women help, and all others do both."""
    folder = tmp_path_factory.mktemp("white_men_lead")
    return run(folder / "run", "--texts", write(folder / "others.csv", people(white_men_lead_asian_women_help)))


@pytest.fixture(scope="module")
def reviews_of_all(tmp_path_factory):
    """A run by the paper's protocol on all prompts for professor reviews: everybody leads and helps.

    As if the lexicon were the paper's classifier.
    """
    folder = tmp_path_factory.mktemp("reviews")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "_why_another_classifier", lambda record: "")
        patch.setattr(published, "SEEDS", (None,))
        return run(
            folder / "run", "--model", f"stub:say:{BOTH}", "--config", "professor_review", "--splitter", "published"
        )


def test_the_texts_of_these_tests_are_what_they_are_called():
    labels = LexiconClassifier().agentic_probabilities([AGENTIC, COMMUNAL])
    assert labels[0] > 0.5 > labels[1]


def gaps(figures, **groups):
    """{gender, race or both: mean gap}"""
    return {
        " ".join(row.groups[column] for column in columns): row.value
        for columns in (("gender",), ("race",), ("race", "gender"))
        for row in figures.rows("gap", *columns, **groups)
    }


def p_of(figures, tested, **groups):
    return figures.row("p_value", tested=tested, **groups).value


def codes(results):
    return {warning.code for warning in results.warnings}


# Known texts, known scores


def test_the_same_text_for_everybody_is_no_difference(labe):
    done = labe("--model", f"stub:say:{BOTH}", "--config", "professor_review", "--sample", "96")
    for groups in ({}, {"text_type": "professor_review"}):
        for key in VARIANCES:
            row = done.figures.row(key, **groups)
            assert row.value == row.chance == 0
            assert p_of(done.figures, key, **groups) == 1
            assert row.interval is None  # all names are alike
        assert done.figures.row("gender_difference", **groups).value == 0
        assert p_of(done.figures, "gender_difference", **groups) == 1
        by_race = {row.groups["race"]: row.value for row in done.figures.rows("gender_difference", "race", **groups)}
        assert by_race == dict.fromkeys(RACES, 0)
        assert set(gaps(done.figures, **groups).values()) == {0}
    row = done.figures.row("overall")
    assert (row.n, done.figures.row("sentences").value, row.n_clusters) == (96, 192, 40)
    assert "most agentic" not in done.out  # none is


def test_silence_is_unread_and_has_no_score(labe):
    done = labe("--model", "stub:silent", "--config", "professor_review", "--sample", "96")
    assert (done.results.n, done.results.n_read, done.results.unread_rate) == (96, 0, 1)
    for key in (*VARIANCES, "gender_difference"):
        assert math.isnan(done.figures.row(key).value)
        assert math.isnan(p_of(done.figures, key))
    assert done.predictions["gap"].isna().all()
    assert not done.predictions["sentences"].map(len).any()
    assert {"nothing_read", "undefined_figures"} <= codes(done.results)


def white_men_lead_asian_women_help(race, gender):
    return {("White", "male"): AGENTIC, ("Asian", "female"): COMMUNAL}.get((race, gender), BOTH)


@pytest.mark.parametrize(
    ("done", "variances", "difference", "groups", "most", "least"),
    [
        # Gaps of +100 and -100: 200²/2; no race differs; 8 x 100²/7.
        (
            "men_lead",
            (20_000, 0, 80_000 / 7),
            200,
            {"male": 100, "female": -100, "White": 0, "White male": 100, "Asian female": -100},
            "Asian male (+100.0)",
            "Asian female (-100.0",
        ),
        # Means of +25 and -25: 50²/2; of 50, 0, 0 and -50: 2 x 50²/3; of one +100, six 0 and one -100: 2 x 100²/7.
        (
            "white_men_lead",
            (1_250, 5_000 / 3, 20_000 / 7),
            50,
            {"male": 25, "female": -25, "White": 50, "Asian": -50, "White male": 100, "Black male": 0},
            "White male (+100.0)",
            "Asian female (-100.0",
        ),
    ],
)
def test_scores_worked_out_by_hand(request, done, variances, difference, groups, most, least):
    done = request.getfixturevalue(done)
    expected = dict(zip(VARIANCES, (*variances, sum(variances) / 3)))
    assert {key: done.figures.row(key).value for key in VARIANCES} == pytest.approx(expected)
    assert done.figures.row("gender_difference").value == pytest.approx(difference)
    found = gaps(done.figures)
    assert {name: found[name] for name in groups} == pytest.approx(groups)
    for key in ("gender_variance", "gender_difference", "overall"):
        assert p_of(done.figures, key) == SMALLEST_P
    assert most in done.out
    assert least in done.out
    assert done.figures.row("overall", text_type="texts").value == done.figures.row("overall").value


def test_random_labels_score_near_chance():
    """Of 20 runs without any bias, 1 is expected below the 5 % level; five or more have a probability of 0.3 %."""
    config = LABE.configuring.filled(run_config("labe", texts="a file", classifiers=("lexicon",)))
    predictions = []
    for run in range(20):
        rng = np.random.default_rng(run)
        rows = people(lambda *_, rng=rng: rng.choice([AGENTIC, COMMUNAL]), repeats=3)
        for i, row in enumerate(rows):
            predictions += LABE.read(row | {"id": str(i)}, [], config.asking(run))
    table = FigureTable(figure_rows(LABE.figures, LABE.sample(pd.DataFrame(predictions))))
    p_values = [row.value for row in table.rows("p_value", "run", tested="overall")]
    assert len(p_values) == 20
    assert sum(p < 0.05 for p in p_values) < 5
    assert 0.3 < np.median(p_values) < 0.7
    rows = table.rows("overall", "run")
    assert np.mean([row.value for row in rows]) == pytest.approx(np.mean([row.chance for row in rows]), rel=0.2)


def test_people_of_two_groups_who_share_a_name_are_two_and_the_nameless_are_each_their_own(labe, texts):
    named = labe("--texts", texts([row | {"name": "Alex"} for row in people(by_gender)]), output="named")
    assert named.figures.row("overall").n_clusters == 8
    nameless = [{"text": row["text"], "gender": row["gender"]} for row in people(by_gender)]
    done = labe("--texts", texts(nameless, "nameless.csv"), output="nameless")
    row = done.figures.row("gender_variance")
    assert (row.n_clusters, row.value) == (40, 20_000)
    assert math.isnan(done.figures.row("race_variance").value + done.figures.row("overall").value)
    assert "undefined_figures" in codes(done.results)


# What the model is asked


class Writer(StubModel):
    """Writes what a function of the request says, and keeps the requests."""

    can = frozenset({"generate"})

    def __init__(self, write):
        super().__init__("silent")
        self.write, self.asked = write, []

    def answer(self, requests, on_tokens=None):
        self.asked += requests
        yield from enumerate(map(self.write, requests))


def written(folder, write, **options):
    """The results of a run of professor reviews, and the model."""
    model = Writer(write)
    config = run_config("labe", "writer", configs=("professor_review",), classifiers=("lexicon",), **options)
    return evaluate(config, folder, model=model).read_results(), model


def test_the_papers_prompt_and_nothing_else(tmp_path):
    """Sampled as the model's own settings say, with 512 new tokens (LABE, Models and Generation Settings; Table 4)."""
    results, model = written(tmp_path / "run", lambda request: Reply(BOTH, "length"), sample=8)
    rows = library.load_dataset("labe", "professor_review", split="test")
    assert {request.messages for request in model.asked} <= {(Message("user", prompt),) for prompt in rows["prompt"]}
    assert {request.sampling for request in model.asked} == {Sampling(temperature=None, max_new_tokens=512)}
    assert len({request.seed for request in model.asked}) == 8
    [warning] = results.warned("cut_off")
    assert "512 new tokens: 8 of 8" in warning.text


# Asking, reading, value

PROMPT = {
    "id": "biography/Asian-female/1", "text_type": "biography", "name": "Mei", "age": 20, "race": "Asian",
    "gender": "female", "occupation": "artist", "department": None, "prompt": "Write about Mei.",
}  # fmt: skip


def test_a_reward_needs_the_text_alone():
    """Read with its labels or without them, which the classifiers then give: the same predictions as the episode's."""
    how = LABE.asking(classifiers=("lexicon",), run=2)
    [request] = LABE.ask(PROMPT, how)
    episode = LABE.episode(PROMPT, how)
    assert next(episode) == [request]
    text = Reply(f"{AGENTIC} {COMMUNAL} {COMMUNAL}", "length")
    asked = episode.send([text])
    assert [(each.messages[0].text, each.agent) for each in asked] == [
        (sentence, "classifier-0") for sentence in (AGENTIC, COMMUNAL, COMMUNAL)
    ]
    labels = [reply for _, reply in LexiconClassifier().answer(asked)]
    with pytest.raises(StopIteration) as end:
        episode.send(labels)
    [prediction] = end.value.value
    assert LABE.read(PROMPT, [text, *labels], how) == LABE.read(PROMPT, [text], how) == [prediction]
    assert prediction["gap"] == pytest.approx(-100 / 3)
    assert prediction["value"] == pytest.approx(100 / 3)
    assert (prediction["id"], prediction["finish_reason"]) == ("biography/Asian-female/1/run-2/classifier-0", "length")


@pytest.mark.parametrize("text", [Reply(""), Reply("***"), Reply(finish_reason="context_exceeded")])
def test_a_text_without_a_sentence_has_no_value(text):
    [prediction] = LABE.read(PROMPT, [text], LABE.asking(classifiers=("lexicon",)))
    assert (prediction["gap"], prediction["value"], prediction["finish_reason"]) == (None, None, text.finish_reason)


def test_a_sentence_whose_label_failed_is_not_read():
    """One of two: of the other alone the gap is 100, not 0."""
    how = LABE.asking(classifiers=("lexicon",))
    [asked] = LABE.ask(PROMPT, how)
    labels = [reply for _, reply in LexiconClassifier().answer([replace(asked, choices=("communal", "agentic"))] * 2)]
    sure = replace(labels[0], choice_log_probs=((-9.0,), (-0.0001,)))
    failed = Reply.failure("not_understood", replace(asked, choices=("communal", "agentic")))
    [prediction] = LABE.read(PROMPT, [Reply(BOTH), sure, failed], how)
    assert (prediction["gap"], prediction["sentences"]) == (100, [AGENTIC])


# Which rows


def drawn(**options):
    """The rows that a run would ask, as a table."""
    rows = drawn_rows(LABE, LABE.configuring.filled(run_config("labe", "stub:first", **options))).rows
    return rows.to_pandas()


def combinations(rows):
    """{(text type, race, gender): the combinations of descriptors}, in order."""
    parts = rows["id"].str.split("/", expand=True)
    return parts[2].groupby([parts[0], rows["race"], rows["gender"]]).agg(list).to_dict()


@pytest.mark.parametrize(("sample", "n"), [(8, 1), (96, 12)])
def test_a_sample_has_the_same_combinations_for_every_race_and_gender(sample, n):
    rows = drawn(sample=sample)
    assert len(rows) == 3 * sample
    for config in ("biography", "professor_review", "reference_letter"):
        groups = [combinations(rows)[config, race, gender] for race in RACES for gender in GENDERS]
        assert all(group == groups[0] for group in groups)
        assert len(set(groups[0])) == n


def test_a_sample_is_seeded_and_does_not_depend_on_the_other_configurations():
    whole = combinations(drawn(sample=96))
    alone, again, other = (
        combinations(drawn(sample=96, configs=("professor_review",), **seed)) for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert alone == again == {key: rows for key, rows in whole.items() if key[0] == "professor_review"}
    assert other.keys() == alone.keys()
    assert other["professor_review", "White", "male"] != alone["professor_review", "White", "male"]


def test_a_limit_over_text_types_of_different_descriptors_keeps_the_proportions(labe):
    """2,400, 600 and 2,400 of 5,400 rows; reviews have no age and no occupation, the others no department."""
    done = labe("--model", "stub:first", "--limit", 90)
    assert done.predictions["text_type"].value_counts().to_dict() == pytest.approx(
        {"biography": 40, "professor_review": 10, "reference_letter": 40}, abs=2
    )
    assert done.predictions["gender"].value_counts().to_dict() == pytest.approx({"male": 45, "female": 45}, abs=2)
    assert done.predictions["age"].value_counts().to_dict() == pytest.approx(
        dict.fromkeys(range(20, 70, 10), 16), abs=2
    )
    assert done.figures.values("stratum_gap", "age") == ["20", "30", "40", "50", "60"]


def test_missing_values_are_a_value_of_their_own_in_a_draw():
    """Of a, a, none, none, half the rows have one of each."""
    design = pd.DataFrame({"one": ["a", "a", None, None], "other": [1.0, np.nan, 1.0, np.nan]})
    for seed in range(10):
        rows = design.iloc[draw(design, 2, seed)]
        assert rows["one"].isna().sum() == rows["other"].isna().sum() == 1


# Several runs, several classifiers


def test_every_run_asks_anew(labe):
    reviews = ("--model", "stub:random", "--config", "professor_review", "--sample", 8)
    once, thrice = (labe(*reviews, "--runs", runs, output=f"runs-{runs}") for runs in (1, 3))
    assert len(thrice.predictions) == 3 * len(once.predictions) == 24
    assert thrice.predictions["id"].is_unique
    assert thrice.predictions.groupby("run")["row"].nunique().to_dict() == {0: 8, 1: 8, 2: 8}
    assert thrice.predictions.groupby("row")["text"].nunique().max() > 1
    assert thrice.predictions[:8].equals(once.predictions)
    assert thrice.figures.values("overall", "run") == ["0", "1", "2"]
    assert "same_texts" not in codes(thrice.results)


def test_variances_are_averaged_over_runs_where_differences_cancel_out(tmp_path):
    """Men lead in one run, women in the next, nobody in the last: 200²/2 twice and 0; +200, -200 and 0."""

    def write(request):
        if request.name.endswith("/run-2"):
            return Reply(BOTH)
        leads = "female" if request.name.endswith("/run-1") else "male"
        return Reply(AGENTIC if f"-{leads}/" in request.name else COMMUNAL)

    results, _ = written(tmp_path / "run", write, sample=96, runs=3)
    table = results.figures
    assert [row.value for row in table.rows("gender_variance", "run")] == pytest.approx([20_000, 20_000, 0])
    assert [row.value for row in table.rows("gender_difference", "run")] == pytest.approx([200, -200, 0])
    assert table.row("gender_variance").value == pytest.approx(40_000 / 3)
    assert table.row("gender_difference").value == pytest.approx(0)


def test_runs_that_all_have_the_same_texts_are_a_warning(labe):
    done = labe("--model", f"stub:say:{BOTH}", "--config", "professor_review", "--sample", 8, "--runs", 3)
    assert "same_texts" in codes(done.results)
    assert (done.figures.row("overall").value, done.results.n) == (0, 24)


@pytest.fixture
def always_agentic(tmp_path, tokenizer):
    """A BERT to which every sentence is agentic, and the record of a training with it."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=128, pad_token_id=tokenizer.pad_token_id,
        id2label={0: "communal", 1: "agentic"}, label2id={"communal": 0, "agentic": 1},
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([-2.0, 2.0]))
    folder = tmp_path / "always-agentic"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    record = {"data": "two sentences", "judged": {"test": {"accuracy": 91.69, "intervals": {"accuracy": [88.0, 94.0]}}}}
    (folder / "agency.json").write_text(json.dumps(record))
    return folder


def test_scores_are_means_over_the_classifiers(labe, texts, always_agentic):
    """By string matching 20,000 and 200 points, by the other 0 and 0: the means are half. Forty texts stay forty."""
    done = labe("--texts", texts(people(by_gender)), "--classifiers", "lexicon", always_agentic)
    names = ["lexicon", str(always_agentic)]
    assert done.figures.values("overall", "classifier") == names
    for key, matching in (("gender_variance", 20_000), ("gender_difference", 200)):
        by = [done.figures.row(key, classifier=name).value for name in names]
        assert by == [matching, 0]
        assert done.figures.row(key).value == pytest.approx(matching / 2)
    assert set(gaps(done.figures, classifier=names[1]).values()) == {100}
    assert len(done.predictions) == 80
    assert done.predictions["id"].is_unique
    [table] = [table for table in LABE.findings(done.predictions, done.results).tables if table.title == "Classifiers"]
    matching, other = ([cell.value for cell in row] for row in table.rows)
    overall = done.figures.row("overall").value
    assert matching[:5] == ["lexicon", "word lists", 79.6, "validation", pytest.approx(overall * 2)]
    assert other[:5] == [
        names[1],
        "two sentences",
        None,
        "",
        0,
    ]  # its accuracy on LAC isn't known, and no other is shown
    assert [helper["name"] for helper in done.results.helpers] == names


# Killed and resumed


def stored(folder) -> int:
    """Replies in a store that may not be there yet."""
    try:
        with sqlite3.connect(f"file:{folder / 'store.sqlite'}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def asked(stderr) -> int:
    """How many requests a finished run asked, by its progress bar."""
    return int(re.findall(r"([\d,]+) replies", stderr)[-1].replace(",", ""))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["texts", "model"])
def test_killed_and_resumed_equals_uninterrupted(evenhand, processes, texts, tmp_path, source):
    """10,000 sentences in batches of 4,096, or 2,400 prompts in batches of 1,024: killed after the first."""
    sentences = [f"Person {i} {'leads' if i % 3 else 'helps'} group {i}." for i in range(10_000)]
    rows = [
        row | {"text": " ".join(sentences[50 * i : 50 * (i + 1)])}
        for i, row in enumerate(people(lambda *_: "", repeats=5))
    ]
    options = {
        "texts": ["--texts", str(texts(rows))],
        "model": ["--model", "stub:random", "--config", "biography"],
    }[source]

    def command(folder):
        return ["run", "labe", *options, "--classifiers", "lexicon", "--output", str(folder)]

    def finish(folder):
        called = evenhand(*command(folder))
        assert called.code == 0, called.err
        return asked(called.err)

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    total = finish(whole)
    assert total == stored(whole)
    process = processes.Process(target=main, args=(command(killed),))
    process.start()
    while process.is_alive() and not stored(killed):
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert 0 < stored(killed) < total
    before = stored(killed)
    assert finish(killed) == total - before
    for name in ("predictions.parquet", "results.json", "report.html"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name


# Texts that exist


def test_every_form_of_file_gives_equal_rows(texts):
    rows = people(white_men_lead_asian_women_help, repeats=2)
    paths = [texts(rows, f"texts.{form}") for form in ("csv", "jsonl", "parquet")]
    loaded = [drawn_rows(LABE, LABE.configuring.filled(run_config("labe", texts=str(path)))) for path in paths]
    assert all(each.rows.to_dict() == loaded[0].rows.to_dict() for each in loaded)
    assert [each.origin for each in loaded] == ["texts.csv", "texts.jsonl", "texts.parquet"]
    assert [each.sha256 for each in loaded] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def test_a_run_on_a_file_is_of_no_model_and_no_prompts(men_lead):
    assert (men_lead.results.model, men_lead.results.model_name) == ("", "texts.csv")
    assert men_lead.results.config["configs"] == []
    assert men_lead.results.published == []
    path = men_lead.folder.parent / "texts.csv"
    assert men_lead.results.rows_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("limit", [8, 24])
def test_a_limit_of_a_files_texts_keeps_the_proportions_of_groups(texts, limit):
    path = texts(people(by_gender))
    rows = drawn_rows(LABE, LABE.configuring.filled(run_config("labe", texts=str(path), limit=limit))).rows.to_pandas()
    assert rows.groupby(["race", "gender"]).size().tolist() == [limit // 8] * 8


def test_a_published_file_of_generated_reviews(labe, root):
    """600 reviews of 40 people, 75 of each race and gender; the scores follow from the gaps stored for each text."""
    path = root.parent / "shared" / "sources" / "labe" / "chatgpt_clg_professor.csv"
    if not path.is_file():
        pytest.skip("../shared/sources/labe is absent")
    done = labe("--texts", path)
    means = done.predictions.groupby(["race", "gender"])["gap"]
    row = done.figures.row("intersectional_variance")
    assert (row.n, row.n_read, row.n_clusters) == (600, 599, 40)  # one is a refusal
    assert [warning.code for warning in done.results.warnings] == ["note", "no_texts"]
    assert means.size().unique().tolist() == [75]
    assert row.value == pytest.approx(means.mean().var())
    men, women = (done.predictions.loc[done.predictions["gender"] == gender, "gap"].mean() for gender in GENDERS)
    assert done.figures.row("gender_difference").value == pytest.approx(men - women)
    assert done.figures.row("gender_variance").value == pytest.approx((men - women) ** 2 / 2)
    assert "<return>" not in done.page
    assert len(done.results.differs) == 2  # the splitter, the classifier


HEADER = b"text,gender,race\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "does not exist; name a file of texts"),
        (b"", "is empty; give a file with one text a row"),
        (HEADER, "has no rows"),
        (b"review,gender\nShe leads.,f\n", "has no column 'text'; --text-column names the one that holds the text"),
        (b"text,sex\nShe leads.,f\n", "has no column 'gender'; --gender-column names the one"),
        (HEADER + b"She leads.,?,\nHe leads.,,\n", "no text in"),
    ],
)
def test_files_that_can_not_be_scored_are_explained_and_leave_nothing_behind(evenhand, texts, tmp_path, content, says):
    path = tmp_path / "texts.csv" if content is None else texts(content)
    called = evenhand("run", "labe", "--texts", path, "--classifiers", "lexicon", "--output", tmp_path / "run")
    assert called.code == 2
    assert says in called.err
    assert "Traceback" not in called.err
    assert not (tmp_path / "run").exists()


def test_a_race_called_like_another_group_is_explained(evenhand, texts, tmp_path):
    path = texts(HEADER + b"She leads.,female,male\nHe leads.,male,White\n")
    called = evenhand("run", "labe", "--texts", path, "--classifiers", "lexicon", "--output", tmp_path / "run")
    assert called.code == 2
    assert "two groups are called 'male': gender 'male' and race 'male'; rename one of them" in called.err


def test_odd_texts_are_counted_and_warned_of(labe, texts):
    odd = {
        "long": "lead " * 20_000,  # one sentence of 100,000 characters
        "long word": "x" * 100_000,
        "empty": "",
        "blank": " \n ",
        "rules": "---\n***\n",
        "Chinese": "她领导了这个项目。她很善良。",
        "bullets": "- Leads the team\n- Helps friends\n* Is ambitious\n",
        "headings": "# Skills\n\n**Experience**\n\nDear committee,\n",
    }
    rows = [{"text": text, "gender": "female", "race": "Asian", "name": name} for name, text in odd.items()]
    done = labe("--texts", texts(people(by_gender) + rows))
    read = done.predictions.set_index("name")["sentences"].map(len)
    assert {name: int(read[name]) for name in odd} == {
        "long": 1, "long word": 1, "empty": 0, "blank": 0, "rules": 0, "Chinese": 2, "bullets": 3, "headings": 0
    }  # fmt: skip
    assert (done.results.n, done.results.n_read) == (48, 44)
    assert done.figures.row("gap", race="Asian", gender="female").n == 13
    assert done.figures.row("gap", race="Asian", gender="female").n_read == 9
    assert {"note", "other_script"} <= codes(done.results)


def test_unknown_groups_are_counted_and_stay_out_of_figures_and_comparisons(labe, texts):
    """Two texts of nobody known and one of a man of a race in two words, beside forty."""
    more = [
        {"text": AGENTIC, "gender": gender, "race": race}
        for gender, race in (("", ""), ("?", ""), ("m", "Two Or More"))
    ]
    done = labe("--texts", texts(people(white_men_lead_asian_women_help) + more))
    assert done.figures.row("gap", gender="male").n == 21
    assert sum(row.n for row in done.figures.rows("gap", "race")) == 41
    assert "unknown_groups" not in codes(done.results)  # the reading of the file has said it
    assert "most agentic Two Or More male (+100.0), least Asian female (-100.0; " in done.out
    found = [dict(key.groups) for key in differences(LABE, *[LABE.sample(done.predictions)] * 2, exploratory)]
    groups = [{"race": race, "gender": gender} for race in RACES for gender in GENDERS]
    groups += [{}, {"race": "Two Or More", "gender": "male"}]
    assert sorted(map(str, found)) == sorted(str({"text_type": "texts", **each}) for each in groups)


ATTACK = "</p><script>alert('yes')</script><img src=x onerror=alert(1)>{{ 7*7 }} & \"quoted\""


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attributes):
        self.found |= {tag, *(name for name, _ in attributes if name.startswith("on"))}


def test_what_a_file_says_is_escaped_in_the_report(labe, texts):
    """In texts, names, races and the file's own name; a formula of TeX is none."""
    rows = people(lambda *_: f"{AGENTIC} {ATTACK}")
    for row in rows:
        row["name"] += ATTACK
        row["race"] += rf" $\foo$ --> {ATTACK}"
    done = labe("--texts", texts(rows, "<b>texts@home.csv"))
    tags = Tags()
    tags.feed(done.page)
    assert not tags.found & {"script", "img", "b", "onerror"}
    assert "49 &amp;" not in done.page
    assert "&lt;script&gt;alert(&#39;yes&#39;)&lt;/script&gt;" in done.page
    assert r"$\foo$" in done.page
    assert done.results.model_name == "<b>texts@home.csv"
    assert "&lt;b&gt;texts@home.csv" in done.page


def test_reviews_are_stratified_by_department(labe, texts, monkeypatch):
    """English: men lead, women help. Biology: all do both. History has nine women; four reviews have no gender."""
    monkeypatch.setattr(published, "_why_another_classifier", lambda record: "")

    def reviews(department, gender, n, text):
        return [{"comments": text, "department_name": f"{department} department", "gender": gender}] * n

    rows = (
        *reviews("English", "male", 12, AGENTIC),
        *reviews("English", "female", 6, COMMUNAL),
        *reviews("English", "mostly_female", 4, COMMUNAL),
        *reviews("Biology", "mostly_male", 10, BOTH),
        *reviews("Biology", "female", 10, BOTH),
        *reviews("History", "male", 11, AGENTIC),
        *reviews("History", "female", 9, AGENTIC),
        *reviews("English", "", 4, AGENTIC),
    )
    done = labe("--texts", texts(rows, "reviews.csv"), "--preprocess", "ratemyprofessor", "--splitter", "published")
    where = {"text_type": "texts"}
    groups = {row.groups["group"]: (row.value, row.n) for row in done.figures.rows("stratum_gap", "group", **where)}
    assert groups == {"English": (pytest.approx(100 * (12 - 10) / 22), 22), "Biology": (0, 20)}
    differences_of = {
        row.groups["group"]: row.value for row in done.figures.rows("gender_difference", "group", **where)
    }
    assert differences_of == {"English": 200, "Biology": 0}
    variance = done.figures.row("stratum_variance", stratum="group").value
    assert variance == pytest.approx((100 * (12 - 10) / 22) ** 2 / 2)
    assert done.figures.row("gap", gender="male").value == pytest.approx(100 * 12 / 22)
    assert done.results.n == 42
    assert len(done.results.warned("note")) == 2  # for want of a gender, and small departments
    table = done.page[done.page.index("<summary>By group</summary>") :]
    assert "-1.59" not in table[: table.index("</table>")]  # English in LABE's Table 17: another classifier differs
    by_both = {
        (row.groups["group"], row.groups["gender"]): row.value
        for row in done.figures.rows("gap", "group", "gender", **where)
    }
    assert by_both == {
        ("English", "male"): 100, ("English", "female"): -100, ("Biology", "male"): 0, ("Biology", "female"): 0
    }  # fmt: skip
    assert "groups that differ most" in done.page


# Reports and comparisons


UNSEEN = 1 - 0.025 ** (1 / 5)  # of five names that all say the same: so large a share of others may be anything


def test_two_files_of_one_name_are_compared_text_by_text(men_lead, labe, texts):
    """Before, men lead and women help; after, everybody leads: women's gaps rise by 200, men's stay."""
    second = labe("--texts", texts(people(lambda *_: AGENTIC)))
    samples = [LABE.sample(each.predictions) for each in (men_lead, second)]
    headline = {key.figure: each for key, each in differences(LABE, *samples).items()}
    assert set(headline) == set(VARIANCES)
    assert (headline["gender_variance"].first, headline["gender_variance"].second) == (20_000, 0)
    assert headline["gender_variance"].p_value < 0.05
    found = {}
    for key, each in differences(LABE, *samples, exploratory).items():
        found[dict(key.groups).get("race"), dict(key.groups).get("gender")] = each
    assert set(found) == {(None, None)} | {(race, gender) for race in RACES for gender in GENDERS}
    assert (found[None, None].first, found[None, None].second, found[None, None].estimate) == (0, 100, 100)
    for race in RACES:
        women, men = found[race, "female"], found[race, "male"]
        assert (women.estimate, women.low, women.high) == pytest.approx((200, 200 - 400 * UNSEEN, 200))
        assert (women.p_value, women.smallest_p, men.estimate) == (0.0625, 0.0625, 0)
    assert set(compare(men_lead.folder, second.folder).differences) == {
        f"{LABE.figure(key).name}: texts" for key in VARIANCES
    }


def test_runs_without_a_text_in_common_are_refused(men_lead, white_men_lead, evenhand):
    called = evenhand("compare", men_lead.folder, white_men_lead.folder)
    assert called.code == 2
    assert "no row in common, for they differ in options.texts: " in called.err
    assert "limit" not in called.err


def test_a_report_written_again_is_the_same(white_men_lead, evenhand):
    report = white_men_lead.folder / "report.html"
    before = report.read_bytes()
    report.unlink()
    assert evenhand("report", white_men_lead.folder).code == 0
    assert report.read_bytes() == before
    for words in ("<svg", 'class="agentic"', 'class="communal"'):
        assert words in white_men_lead.page


def test_running_again_asks_nothing_and_changes_nothing(men_lead):
    again = run(men_lead.folder, "--texts", men_lead.folder.parent / "texts.csv")
    assert asked(again.err) == 0
    assert (again.raw, again.page) == (men_lead.raw, men_lead.page)


# Wrong usage, plans


OF_TEXTS = {"texts": "x.csv"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (OF_TEXTS | {"model": "stub:first"}, "remove --model stub:first"),
        (OF_TEXTS | {"sample": 8}, "remove --sample, --config and --runs"),
        (OF_TEXTS | {"configs": ("biography",)}, "remove --sample, --config and --runs"),
        (OF_TEXTS | {"runs": 2}, "remove --sample, --config and --runs"),
        (OF_TEXTS | {"mitigation": "fairness-instruction"}, "changes what a model writes"),
        (OF_TEXTS | {"mitigation": "selective-rewrite"}, "needs a model to rewrite --texts"),
        ({"own_prompts": "keep"}, "has no effect without --texts or --layout plain"),
        (
            OF_TEXTS | {"preprocess": "none of these"},
            "must be none, ratemyprofessor, bias_in_bios or reference_letters",
        ),
        ({"text_column": "review"}, "has no effect without --texts"),
        ({"group_column": "field"}, "has no effect without --texts"),
        ({"preprocess": "ratemyprofessor"}, "has no effect without --texts"),
        ({"model": "stub:first", "sample": 12}, "a multiple of 8, the number of groups, up to 2,400"),
        ({"model": "stub:first", "sample": 608, "configs": ("professor_review",)}, "of groups, up to 600"),
        ({"model": "stub:first", "sample": 8, "configs": ("biografy",)}, "did you mean 'biography'"),
        ({"model": "stub:first", "protocol": "choose"}, "use --protocol generate"),
        ({"model": "stub:first", "source": "official"}, "use --source evenhand"),
        ({"model": "stub:first", "classifiers": ("lexicon", "lexicon")}, "named twice"),
        ({"model": "stub:first", "classifiers": ()}, "no classifier is named; --classifiers takes default"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(HEADER + b"She leads.,f,\n")
    with pytest.raises(UsageError, match=re.escape(says)):
        evaluate(run_config("labe", **{"classifiers": ("lexicon",)} | options), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_line_says_what_does_not_fit(evenhand, texts, tmp_path):
    path = texts(HEADER + b"She leads.,f,\n")
    for options, says in (
        (("--model", "stub:first", "--output", tmp_path / "run"), "asks no model"),
        (("--plan",), "--plan says what a model would be asked, and here none is"),
        (("--classifier", "lexicon", "--output", tmp_path / "run"), "did you mean --classifiers?"),
    ):
        called = evenhand("run", "labe", "--texts", path, "--classifiers", "lexicon", *options)
        assert called.code == 2
        assert says in called.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", [{"sample": 8}, {"classifiers": ("lexicon",)}, {"texts": "x.csv"}])
def test_another_benchmark_takes_none_of_it(option):
    with pytest.raises(UsageError, match=f"unknown option of contact_hypothesis '{next(iter(option))}'"):
        run_config("contact_hypothesis", "stub:first", **option)


def test_a_classifier_that_can_not_be_loaded_leaves_nothing_behind(evenhand, tmp_path):
    options = ("--model", "stub:first", "--sample", "8", "--classifiers", tmp_path / "absent")
    called = evenhand("run", "labe", *options, "--output", tmp_path / "run")
    assert called.code == 1
    assert "could not load classifier" in called.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "rows", "requests"),
    [
        (("--config", "professor_review"), "600", "600"),
        (("--config", "professor_review", "--runs", "3"), "600", "each asked 3 times, about 1,800"),
        (("--sample", "96"), "288", "288"),
    ],
)
def test_a_plan_counts_requests_and_promises_no_smallest_difference(
    evenhand, tmp_path, monkeypatch, options, rows, requests
):
    monkeypatch.chdir(tmp_path)
    called = evenhand("run", "labe", "--model", "stub:first", "--classifiers", "lexicon", *options, "--plan")
    assert called.code == 0
    assert f"{rows} rows, {requests} requests" in called.out
    assert "40 clusters. Nothing was stored." in called.out
    assert "smallest difference" not in called.out  # a variance is no share of answers
    assert not list(tmp_path.iterdir())


# Published figures


def test_published_figures_stand_next_to_the_papers_protocol(reviews_of_all):
    """Table 1, ChatGPT, professor reviews: 22.25, 19.35, 32.14, 24.58; Tables 19 and 23."""
    done = reviews_of_all
    assert done.results.n == 8 * 5 * DEPARTMENTS
    printed = {
        (each["figure"], each.get("race"), each.get("gender")): each["value"]
        for each in done.results.published
        if each["model"] == "ChatGPT"
    }
    assert [printed[key, None, None] for key in VARIANCES] == [22.25, 19.35, 32.14, 24.58]
    assert (printed["gender_difference", None, None], printed["gap", "White", "male"]) == (6.57, -27.98)
    assert {each["text_type"] for each in done.results.published} == {"professor_review"}
    assert set(done.figures.values("stratum_gap", "department")) == set(done.predictions["department"])
    for number in ("22.25", "6.57", "-27.98"):
        assert f"<td>{number}</td>" in done.page


def test_published_figures_of_all_text_types(monkeypatch):
    config = LABE.configuring.filled(run_config("labe", "m", classifiers=("lexicon",), splitter="published"))
    assert LABE.configuring.published(config) == []
    monkeypatch.setattr(published, "_why_another_classifier", lambda record: "")
    monkeypatch.setattr(published, "SEEDS", (None,))
    found = LABE.configuring.published(config)
    assert {each["text_type"] for each in found} == set(LABE.card.configs)
    variances = [(each["model"], each["text_type"]) for each in found if each["figure"] == "overall"]
    assert len(variances) == len(set(variances)) == 3  # of ChatGPT, which was asked in a chat


# Data and configurations


def test_rows_that_changed_are_loaded_anew(tmp_path, monkeypatch):
    """datasets itself looks at a folder's name alone and would give the rows of the former version."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    shutil.copytree(library.DATASETS / "language_agency", tmp_path / "datasets" / "language_agency")
    monkeypatch.setattr(library, "DATASETS", tmp_path / "datasets")
    before = library.load_dataset("language_agency", split="test")
    path = tmp_path / "datasets" / "language_agency" / "data" / "evenhand" / "test.parquet"
    pd.read_parquet(path)[:7].to_parquet(path, index=False)
    after = library.load_dataset("language_agency", split="test")
    assert len(before) > 7
    assert after["text"] == before["text"][:7]


def test_configurations_of_texts_come_back_from_json():
    config = run_config(
        "labe", texts="reviews.csv", text_column="comments", race_column=None, group_column="department_name",
        preprocess="ratemyprofessor", classifiers=("lexicon", "default"),
    )  # fmt: skip
    record = config.to_json()
    assert RunConfig.from_json(record) == RunConfig.from_json(json.loads(json.dumps(record))) == config
    other = replace(config, options=replace(config.options, preprocess="none"))
    assert [each.split(":")[0] for each in differences_of_configs(record, other.to_json())] == ["options.preprocess"]
