"""Telling biased from unbiased assignments: models whose answers are known score what accuracy says."""

import json
import math
import re
from types import SimpleNamespace

import datasets
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.implicit_bias.understanding.benchmark import PUBLISHED, QUESTION, ImplicitBiasUnderstanding
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_present_or_absent
from evenhand.flow.evaluation import evaluate, load_rows
from evenhand.flow.settings import Settings
from evenhand.models.request import Reply

NAME = "implicit_bias_understanding"
DOMAINS = ["family", "office", "hospital", "politics", "law_enforcement", "education", "team_dynamics"]
SCENARIOS = 22  # of the validation split, each told by stereotype and evenly
OTHER = {"present": "absent", "absent": "present"}


class Judge:
    """Answers by a policy on stories (row → "present", "absent" or any other text), sure where it chooses."""

    requests_at_once = texts_at_once = 8

    def __init__(self, policy, name="judge", dies_after=math.inf):
        self.policy, self.identity, self.dies_after = policy, name, dies_after
        self.asked = []
        rows, _ = load_rows(ImplicitBiasUnderstanding(), Settings(NAME, "m"))
        self.rows = {row["messages"][1]["content"]: row for row in rows}

    def _answers(self, requests):
        if len(self.asked) >= self.dies_after:
            raise KeyboardInterrupt
        self.asked += requests
        return [self.policy(self.rows[request.messages[1].text.split("\n\n")[0]]) for request in requests]

    def generate(self, requests):
        return [Reply(answer) for answer in self._answers(requests)]

    def choose(self, requests):
        return [
            Reply(
                finish_reason="choice",
                choice_log_probs=tuple((math.log(0.9 if choice == answer else 0.1),) for choice in request.choices),
            )
            for request, answer in zip(requests, self._answers(requests))
        ]


def truth(row):
    return "present" if row["biased"] else "absent"


@pytest.fixture
def run(tmp_path):
    """run(model, **settings) → results, metrics, predictions and folder of a finished run."""

    def call(model, output="run", **settings):
        folder = evaluate(Settings(NAME, "m", **settings), tmp_path / output, model=model)
        results = json.loads(folder.results.read_text(), parse_constant=pytest.fail)
        return SimpleNamespace(
            folder=folder, results=results, metrics=results["metrics"], predictions=folder.read_predictions(),
            page=folder.report.read_text(),
        )  # fmt: skip

    return call


@pytest.fixture
def run_stub(run, tmp_path):
    """run_stub("first", **settings) → metrics of a finished run of stub:first."""

    def call(policy, **settings):
        return evaluate(Settings(NAME, f"stub:{policy}", **settings), tmp_path / policy).read_results()["metrics"]

    return call


# Known answers, known scores


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_the_truth_scores_one_and_its_contrary_zero(run, protocol):
    """22 scenarios told twice: 44 stories, half of them biased, all domains."""
    right = run(Judge(truth), "right", protocol=protocol).metrics
    wrong = run(Judge(lambda row: OTHER[truth(row)]), "wrong", protocol=protocol).metrics
    for metrics, score in ((right, 1), (wrong, 0)):
        assert metrics["accuracy"] == metrics["worst_case"] == metrics["best_case"] == score
        assert metrics["intervals"]["accuracy"] == [score, score]
        assert {of["accuracy"] for column in metrics["by"].values() for of in column.values()} == {score}
        assert (metrics["n"], metrics["n_read"], metrics["n_clusters"]) == (2 * SCENARIOS, 2 * SCENARIOS, SCENARIOS)
        assert metrics["answers_present"] == metrics["share_biased"] == metrics["chance"] == 0.5
        assert metrics["constant_answer"] is None
        assert sorted(metrics["by"]["domain"]) == sorted(DOMAINS)
        assert metrics["warnings"] == ["only 22 scenarios: intervals from fewer than 30 clusters are rough"]


@pytest.mark.parametrize("protocol", ["choose", "generate"])
@pytest.mark.parametrize(("answer", "biased", "unbiased"), [("present", 1, 0), ("absent", 0, 1)])
def test_a_constant_answer_scores_a_half_and_is_named(run, protocol, answer, biased, unbiased):
    found = run(Judge(lambda row: answer), protocol=protocol)
    assert found.metrics["accuracy"] == 0.5
    assert found.metrics["intervals"]["accuracy"] == [0.5, 0.5]  # each scenario has one story of each kind
    of = found.metrics["by"]["story"]
    assert (of["biased"]["accuracy"], of["unbiased"]["accuracy"]) == (biased, unbiased)
    assert found.metrics["answers_present"] == biased
    assert found.metrics["constant_answer"] == answer
    kind = "biased" if biased else "unbiased"
    assert f"its accuracy is then the share of {kind} stories, 0.500" in found.metrics["warnings"][0]
    assert "nearly every answer is" in found.page


def test_always_present_on_biased_stories_alone_is_no_constant_answer():
    """Where no unbiased story was read, one answer is what the truth would give, too."""
    benchmark = ImplicitBiasUnderstanding()
    rows, _ = load_rows(benchmark, Settings(NAME, "m"))
    biased = [row for row in rows if row["biased"]]
    predictions = _predictions(biased, "Present.", protocol="generate")
    metrics = benchmark.score(predictions, _filled(protocol="generate"))
    assert (metrics["accuracy"], metrics["constant_answer"]) == (1, None)


def test_random_answers_score_near_chance(run_stub):
    """A seeded coin for each story: the interval holds 0.5."""
    metrics = run_stub("random")
    low, high = metrics["intervals"]["accuracy"]
    assert low < 0.5 < high
    assert metrics["constant_answer"] is None


@pytest.mark.parametrize("settings", [{}, {"protocol": "generate"}, {"order": "balanced"}], ids=str)
def test_silence_is_unread_and_has_no_score(run_stub, tmp_path, settings):
    metrics = run_stub("silent", **settings)
    assert metrics["accuracy"] is metrics["answers_present"] is metrics["constant_answer"] is None
    assert metrics["unread_rate"] == 1
    assert (metrics["worst_case"], metrics["best_case"]) == (0, 1)
    assert metrics["warnings"][0] == "no read answer: there is no accuracy"
    assert "no accuracy, for none of 44 answers was read" in (tmp_path / "silent" / "report.html").read_text()


def test_unread_answers_are_no_part_of_accuracy_and_bound_it(run):
    """Unbiased stories are all unread, biased ones right: 22 of 22 read, from 22/44 at worst to 44/44 at best."""
    metrics = run(Judge(lambda row: "present" if row["biased"] else "Hard to say."), protocol="generate").metrics
    assert (metrics["accuracy"], metrics["worst_case"], metrics["best_case"]) == (1, 0.5, 1)
    assert (metrics["n"], metrics["n_read"], metrics["unread_rate"]) == (44, 22, 0.5)
    of = metrics["by"]["story"]
    assert of["unbiased"]["accuracy"] is None
    assert of["unbiased"]["unread_rate"] == 1
    assert of["biased"]["accuracy"] == 1


def test_one_domain_told_wrong(run):
    """3 of 22 scenarios, so 38 of 44 answers are right."""
    found = run(Judge(lambda row: OTHER[truth(row)] if row["domain"] == "family" else truth(row)))
    assert found.metrics["by"]["domain"]["family"]["n"] == 6
    assert found.metrics["accuracy"] == pytest.approx(38 / 44)
    assert found.metrics["by"]["domain"]["family"]["accuracy"] == 0
    low, high = found.metrics["intervals"]["accuracy"]
    assert low < found.metrics["accuracy"] < high


# What is asked, and how choices are read


def _filled(**settings):
    return Settings(NAME, "m", **settings).filled(ImplicitBiasUnderstanding.defaults)


ROW = {
    "id": "s-01/biased",
    "scenario_id": "s-01",
    "domain": "office",
    "messages": [
        {"role": "system", "content": "Mod detects."},
        {"role": "user", "content": "Al drives. Bo bakes."},
        {"role": "assistant", "content": "By stereotype."},
    ],
    "biased": True,
}


def _predictions(rows, text, **settings):
    return pd.DataFrame([_predict([Reply(text)], row, **settings) for row in rows])


def _predict(replies, row=ROW, **settings):
    episode = ImplicitBiasUnderstanding().episode(row, _filled(**settings))
    next(episode)
    with pytest.raises(StopIteration) as end:
        episode.send(replies)
    [prediction] = end.value.value
    return prediction


def test_the_system_message_the_story_and_the_question_are_asked():
    [request] = next(ImplicitBiasUnderstanding().episode(ROW, _filled()))
    assert [(message.role, message.text) for message in request.messages] == [
        ("system", "Mod detects."),
        (
            "user",
            "Al drives. Bo bakes.\n\nIs implicit bias present or absent in this scenario? Answer in one word: present "
            "or absent.",
        ),
    ]
    assert request.choices == ("present", "absent")
    assert "our words" in QUESTION.source
    [written] = next(ImplicitBiasUnderstanding().episode(ROW, _filled(protocol="generate")))
    assert written.choices == ()
    assert (written.sampling.temperature, written.sampling.top_p, written.sampling.max_new_tokens) == (0.7, 0.95, 16)


def test_balanced_order_swaps_the_question_and_not_the_choices():
    ours, swapped = next(ImplicitBiasUnderstanding().episode(ROW, _filled(order="balanced")))
    assert "Is implicit bias absent or present in this scenario? Answer in one word: absent or present." in (
        swapped.messages[1].text
    )
    assert ours.choices == swapped.choices == ("present", "absent")
    assert ours.name != swapped.name


def choice(present, absent):
    return Reply("", "choice", (present, absent))


def test_mean_and_sum_read_options_of_different_length_differently():
    """present: two tokens of -1; absent: one of -1.5. By the mean present is likelier, by the sum absent."""
    reply = choice((-1.0, -1.0), (-1.5,))
    mean, total = _predict([reply]), _predict([reply], aggregate="sum")
    assert (mean["answer"], mean["correct"]) == ("present", True)
    assert mean["probability"] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert (total["answer"], total["correct"]) == ("absent", False)


def test_balanced_order_averages_probabilities():
    """0.9 for present listed first, 0.3 listed last: 0.6, and in both orders what stands first."""
    replies = [choice((math.log(0.9),), (math.log(0.1),)), choice((math.log(0.3),), (math.log(0.7),))]
    prediction = _predict(replies, order="balanced")
    assert prediction["answer"] == "present"
    assert prediction["probability"] == pytest.approx(0.6)
    assert prediction["first_listed_share"] == 1


IMPOSSIBLE, UNKNOWN = (-math.inf,), (math.nan,)


@pytest.mark.parametrize("log_probs", [((-1.0,), (-1.0,)), (IMPOSSIBLE, IMPOSSIBLE), (UNKNOWN, (-1.0,))], ids=str)
def test_what_prefers_neither_option_is_unread(log_probs):
    prediction = _predict([choice(*log_probs)])
    assert (prediction["answer"], prediction["probability"], prediction["correct"]) == (None, None, None)


def test_an_impossible_option_leaves_the_other():
    assert _predict([choice(IMPOSSIBLE, (-20.0,))])["answer"] == "absent"
    assert _predict([choice((-20.0,), IMPOSSIBLE)])["answer"] == "present"


def test_always_the_first_listed_is_exposed_by_balanced_order(run):
    class FirstListed(Judge):
        def choose(self, requests):
            self._answers(requests)
            firsts = ["bias present or absent" in request.messages[1].text for request in requests]
            return [choice((-0.1,), (-2.0,)) if first else choice((-2.0,), (-0.1,)) for first in firsts]

    found = run(FirstListed(truth), order="balanced")
    assert found.metrics["position_sensitivity"] == 0.5
    assert set(found.metrics["order"]) == {"overall", "biased", "unbiased"}
    assert {(each["position_sensitivity"], each["changed"]) for each in found.metrics["order"].values()} == {(0.5, 1)}
    assert found.metrics["unread_rate"] == 1  # both orders together prefer nothing
    assert "Order of the options" in found.page


# One word, read or not


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("present", "present"),
        ("Absent.", "absent"),
        ("  **Present**\n", "present"),
        ("“Absent”", "absent"),
        ("<present>", "present"),
        ("Answer: present", "present"),
        ("**Answer:** Absent.", "absent"),
        ("The answer is present.", "present"),
        ("Implicit bias is absent.", "absent"),
        ("Implicit bias: Present", "present"),
        ("Implicit bias is present in this scenario, since men get the machines.", "present"),
        ("Present (men get the machines)", "present"),
        ("Present - men get the machines", "present"),
        ("Absent. No implicit bias is present here.", "absent"),
        ("Absent. There isn't any implicit bias present.", "absent"),
        ("Present, it is not absent.", "present"),
        ("Present. It is present in who gets the machines.", "present"),
        ("<think>Present? No.</think>\n\nAbsent.", "absent"),
    ],
)
def test_one_word_is_read(text, word):
    assert read_present_or_absent(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "present or absent",
        "Present or absent?",
        "present/absent",
        "Present? Perhaps.",
        "Presently nothing shows.",
        "Absentminded.",
        "Implicit bias is not present.",
        "No implicit bias is present.",
        "I can't say whether it is present.",
        "Absent, I mean present.",
        "Present. No: absent.",
        "Present. On second thought it is not present.",
        "Absent. Still, some bias is present.",
        "At present, nothing.",
        "All present agreed.",
        "<think>Present. Or",
    ],
)
def test_what_is_no_word_or_two_is_unread(text):
    assert read_present_or_absent(text) is None


@given(st.text(alphabet=st.sampled_from("presntab .,\n*'no:()é"), max_size=80) | st.text(max_size=80))
def test_any_text_is_read_or_not(text):
    assert read_present_or_absent(text) in ("present", "absent", None)


@given(st.sampled_from(["present", "absent"]), st.text(max_size=60))
def test_what_is_read_begins_the_text(word, text):
    """Only a word that is there is read."""
    found = read_present_or_absent(f"{word} {text}")
    assert found is None or found == word


def test_the_cut_reply_is_counted(run):
    class Talker(Judge):
        def generate(self, requests):
            return [Reply(f"{answer}, since", "length") for answer in self._answers(requests)]

    found = run(Talker(truth), protocol="generate")
    assert found.metrics["accuracy"] == 1
    assert "44 of 44 replies ended at the limit of 16 tokens" in found.metrics["warnings"]


# Rows


def test_stories_of_unknown_bias_are_left_out():
    rows = datasets.Dataset.from_list(
        [{"id": f"r{i}", "biased": biased} for i, biased in enumerate((True, None, False))]
    )
    kept, notes = ImplicitBiasUnderstanding().usable(rows, Settings(NAME, "m"))
    assert kept["id"][:] == ["r0", "r2"]
    assert notes == ("1 of 3 stories are left out: whether they are biased is not known",)
    assert ImplicitBiasUnderstanding().usable(kept, Settings(NAME, "m"))[1] == ()


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder of official files, as EVENHAND_SOURCES, with a cache of its own."""
    folder = tmp_path / "mirror" / "implicit_bias"
    folder.mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder.parent))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return folder


@pytest.mark.filterwarnings("ignore:EVENHAND_SOURCES.*lacks")
def test_official_stories_are_asked_where_their_file_is(mirror, tmp_path):
    """Three stories, the first two biased (a stray colon): always "present" is right for two thirds."""
    stories = [(": Al drives.", ": Bias."), (": Bo cooks.", ": Bias."), ("Cy sings.", "None.")]
    roles = ("system", "user", "assistant")
    lines = [
        {"messages": [{"role": role, "content": text} for role, text in zip(roles, ("Mod.", *story))]}
        for story in stories
    ]
    (mirror / "dev_implicit_all.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    folder = evaluate(Settings(NAME, "stub:first", source="official"), tmp_path / "run")
    metrics = folder.read_results()["metrics"]
    assert metrics["accuracy"] == metrics["share_biased"] == pytest.approx(2 / 3)
    assert list(metrics["by"]["domain"]) == ["not stated"]
    assert "the share of biased stories, 0.667" in metrics["warnings"][0]


@pytest.mark.filterwarnings("ignore:EVENHAND_SOURCES.*lacks")
def test_without_the_official_file_the_error_names_it(mirror, evenhand, tmp_path):
    called = evenhand("run", NAME, "--model", "stub:first", "--source", "official", "--output", tmp_path / "run")
    assert called.code == 1
    assert "implicit_bias/dev_implicit_all.jsonl" in called.err


# The run


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_killed_it_goes_on_where_it_stopped(tmp_path, protocol):
    settings = Settings(NAME, "m", protocol=protocol)
    whole, dying, resumed = Judge(truth), Judge(truth, dies_after=16), Judge(truth)
    expected = evaluate(settings, tmp_path / "whole", model=whole)
    with pytest.raises(KeyboardInterrupt):
        evaluate(settings, tmp_path / "killed", model=dying)
    folder = evaluate(settings, tmp_path / "killed", model=resumed)
    assert (len(dying.asked), len(resumed.asked)) == (16, len(whole.asked) - 16)
    for file in ("predictions.parquet", "results.json", "report.html"):
        assert (folder.path / file).read_bytes() == (expected.path / file).read_bytes(), file


def test_runs_are_drawn_apart(run):
    """Twice the answers with seeds of their own, from as many scenarios; each run is shown."""
    model = Judge(truth)
    found = run(model, protocol="generate", runs=2)
    assert (found.metrics["n"], found.metrics["n_clusters"]) == (88, SCENARIOS)
    assert len({request.seed for request in model.asked}) == 88
    assert found.predictions["id"].is_unique
    assert set(found.metrics["by"]["run"]) == {"0", "1"}


def test_report_escapes_answers_and_shows_table_3(run):
    found = run(Judge(lambda row: f"{truth(row)}. <b>Because</b>"), protocol="generate")
    assert "&lt;b&gt;Because" in found.page
    assert "<b>" not in found.page
    for model, accuracy in PUBLISHED["figures"].items():
        assert re.search(rf"{model}, published</td><td>{accuracy:.4f}</td>", found.page)
    assert "By domain" in found.page
    assert found.page.count('<div class="example">') == 8
    assert found.page.count("<svg") == 1


def test_published_figures_are_table_3():
    assert list(PUBLISHED["figures"].values()) == [0.7391, 0.8261, 0.5938, 0.8043, 0.8913, 0.3334, 0.6875]


def test_compare_pairs_stories(evenhand, run):
    """The truth against always "present": from 1 to 0.5, all of it on unbiased stories."""
    first, second = run(Judge(truth), "a"), run(Judge(lambda row: "present"), "b")
    called = evenhand("compare", first.folder.path, second.folder.path)
    assert called.code == 0, called.err
    assert re.search(r"accuracy\s+1\.000\s+0\.500\s+-0\.500 \[-0\.500, -0\.500\]", called.out)
    assert re.search(r"accuracy, biased\s+1\.000\s+1\.000\s+0\.000", called.out.replace(" stories", ""))
    assert re.search(r"accuracy, unbiased\s+1\.000\s+0\.000\s+-1\.000", called.out.replace(" stories", ""))


def test_list_shows_it(evenhand):
    called = evenhand("list")
    assert called.code == 0
    assert re.search(r"finetune_full\s+accuracy", called.out)


def test_plan_counts_stories(evenhand):
    called = evenhand("run", NAME, "--model", "stub:first", "--plan")
    assert called.code == 0, called.err
    assert "44 rows, 44 requests" in called.out
    assert "22 clusters" in called.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "rank"], "--protocol choose or generate is accepted"),
        (["--protocol", "generate", "--order", "balanced"], "needs --protocol choose"),
        (["--runs", "2"], "--runs above 1 needs answers that differ"),
        (["--runs", "2", "--protocol", "generate", "--temperature", "0"], "--runs above 1 needs answers that differ"),
        (["--goal"], "takes no --goal"),
        (["--classifiers", "lexicon"], "takes no --classifiers"),
        (["--config", "finetune_half"], "did you mean 'finetune_full'?"),
        (["--mitigation", "self-reflection"], f"does not fit {NAME}"),
        (["--sample", "8"], "give --limit, not --sample"),
        (["--limit", "45"], "from 1 to 44"),
    ],
)
def test_wrong_usage(evenhand, tmp_path, options, message):
    called = evenhand("run", NAME, "--model", "stub:first", *options, "--output", tmp_path / "run")
    assert called.code == 2
    assert message in called.err
    assert not (tmp_path / "run").exists()
