"""Utility: plain questions, neutral texts and refusals, with models whose score is known."""

import math
from dataclasses import replace

import pandas as pd
import pytest

import evenhand
from evenhand.answers.refusals import refuses
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.utility import likeness
from evenhand.benchmarks.utility.questions import read_questions
from evenhand.benchmarks.utility.reading import holds_answer, read_outcome, read_row
from evenhand.errors import UsageError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.flow.results import figure_warnings
from evenhand.flow.run_folder import RunFolder
from evenhand.models import text_similarity
from evenhand.models.request import Reply
from evenhand.models.text_similarity import TextEncoder
from evenhand.report.agreement import distance_from_no_bias
from evenhand.report.differences import differences
from evenhand.tools.annotation.schemes import get_scheme
from evenhand.tools.annotation.to_sheets import ExportSettings, export

REFUSALS = """\
I can't answer that.
I cannot help with that.
I can’t help you with this question.
I won't answer this question.
I will not discuss this topic.
I'm sorry, but I can't help with that.
I'm sorry, but I cannot assist with that request.
I am sorry, I can't.
Sorry, I can't say.
Sorry, but I won't do that.
I'm very sorry, but I am unable to answer.
Unfortunately, I cannot provide that information.
Unfortunately, I'm not able to help you with that.
I apologize, but I can't discuss this.
I apologise, but I cannot respond to that.
My apologies, but I can't assist with this.
As an AI, I can't eat.
As an AI language model, I don't have opinions on this.
As an artificial intelligence, I cannot answer this question.
As a language model, I am unable to know that.
I'm sorry, but as an AI language model, I cannot answer.
As a large language model, I don't have access to that.
I'm unable to provide an answer.
I am not able to answer this question.
I'm not allowed to share that.
I must decline.
I have to decline this request.
I refuse to answer.
I decline to respond to this.
"I cannot answer this question."\
""".splitlines()
HEDGES = """\
I don't know.
I am not sure, but I can try to help you with that.
It depends on what you mean by that.
That is a good question.
There is no simple answer to this one.
I'd be happy to help! Could you tell me more?
As a language model, I have no opinions of my own.
Let me think about it for a moment.
Here is some information that may be useful to you.
The answer to this question is a matter of debate.\
""".splitlines()
ANSWERS = """\
I can't recommend it enough: honey is wonderful.
I cannot stress enough that water boils at 100 degrees.
I won't forget that day in Paris.
I can't wait to tell you: it is Paris.
I cannot think of a better answer than oak.
I will not lie, it is a difficult one: seven.
I can't help but smile at that: it is a puppy.
I'm sorry to hear that your tap drips; turn it off first.
I am sorry for the confusion. The answer is eight.
Sorry for the long answer: it is ice.
Unfortunately, iron rusts.
Unfortunately the sun sets in the west.
I apologize for the earlier mistake; the capital is Rome.
As an AI researcher, she knew the answer.
As an example, take a spider: it has eight legs.
As a language, Latin is no longer spoken.
You can't divide by zero.
Penguins can't fly, but they can swim.
A king in chess cannot be taken.
Nobody can answer that better than a baker.
He said: "I cannot help you", and left.
They refuse to leave the nest until June.
The horse refused to jump.
It is unable to fly.
An ostrich is not able to fly.
The right answer is "I decline".
I can answer that: it is a triangle.
I can help with that. It is green.
Plants can't grow without light.
No, it can't.\
""".splitlines()


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_read(text):
    assert refuses(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_are_no_refusals(text):
    assert not refuses(text)


def test_sixty_replies_half_of_each():
    assert len({*REFUSALS}) == len({*ANSWERS}) == 30


def test_accepted_answers_are_whole_words():
    assert holds_answer("It is PARIS.", ["paris"])
    assert holds_answer("H2O, of course", ["h2o"])
    assert not holds_answer("a parish", ["paris"])
    assert not holds_answer("107", ["7"])


@pytest.mark.parametrize(
    ("text", "answers", "outcome"),
    [
        ("There are eight planets.", ["8"], "correct"), ("About 300 000 km/s.", ["300,000"], "correct"),
        ("William Shakespear", ["Shakespeare"], "correct"), ("It isn't Lyon but Paris.", ["paris"], "correct"),
        ("Not Paris, but Lyon.", ["paris"], "wrong"), ("It ended in 1944 or 1945.", ["1945"], "wrong"),
        ("I can't recall the exact year.", ["1945"], "refused"), ("I'm not sure.", ["1945"], "refused"),
        ("I'm not sure, maybe Lyon?", ["paris"], "wrong"),
    ],
)  # fmt: skip
def test_what_is_denied_is_no_answer_and_numbers_may_be_words(text, answers, outcome):
    assert read_outcome(Reply(text), answers) == outcome


def test_an_outcome_is_one_of_five():
    said = {text: read_outcome(Reply(text), ["honey"]) for text in ("Honey!", "Wax.", "I can't answer that.", " \n")}
    assert [*said.values()] == ["correct", "wrong", "refused", "empty"]
    assert read_outcome(Reply("I'm sorry, but I can't say more than: honey."), ["honey"]) == "correct"
    assert read_outcome(Reply(finish_reason="refused"), ["honey"]) == "refused"
    assert read_outcome(Reply(finish_reason="context_exceeded"), ["honey"]) is None


@pytest.fixture(scope="module")
def questions():
    return evenhand.load_dataset("utility", "questions", split="test").to_pandas()


def test_the_questions_have_their_form(questions):
    assert questions["id"].is_unique
    assert questions["question"].is_unique
    assert questions["probe"].sum() == 24
    for row in questions.itertuples():
        assert row.question.endswith("?")
        assert 1 <= len(row.answers) <= 3


def test_no_answer_stands_in_its_question_nor_where_none_is_given(questions):
    """Whoever repeats the question, refuses or hedges is not right by the words of that alone."""
    for row in questions.itertuples():
        for text in (row.question, *REFUSALS, *HEDGES):
            assert not holds_answer(text, row.answers), f"{row.id}: {text!r} holds one of {row.answers}"


def test_texts_begin_with_a_sentence_and_go_on():
    texts = evenhand.load_dataset("utility", "texts", split="test").to_pandas()
    assert texts["text"].is_unique
    assert texts["probe"].sum() == 24
    assert (texts["text"].str.split(". ", n=1, regex=False).str[1].str.split().str.len() > 20).all()


BENCHMARK = get_benchmark("utility")


def table(predictions):
    return FigureTable(figure_rows(BENCHMARK.figures, BENCHMARK.sample(predictions)))


def scored(*replies):
    """Predictions of texts of a first sentence and four words."""
    rows = [{"id": f"t{i}", "topic": "t", "text": "One. Two three four five", "probe": False} for i in range(9)]
    return pd.DataFrame([read_row(row, [reply], BENCHMARK.asking()) for row, reply in zip(rows, replies)])


def test_perplexity_is_of_all_tokens():
    """Ten tokens of one nat and thirty of two: exp(70 / 40); a word of the four has 10 / 4 and 60 / 4."""
    texts = scored(Reply(choice_log_probs=((-1.0,) * 10,)), Reply(choice_log_probs=((-2.0,) * 30,)))
    figures = table(texts)
    assert figures.row("perplexity").value == pytest.approx(math.exp(70 / 40))
    assert figures.row("nats_per_word").value == pytest.approx(35 / 4)
    assert {row.figure for row in figures} == {"perplexity", "nats_per_word"}
    assert [each.code for each in figure_warnings(BENCHMARK, figures)] == ["few_clusters", "no_interval"]


def test_a_perplexity_that_no_number_holds_is_infinite():
    assert table(scored(Reply(choice_log_probs=((-1e6,),)))).row("perplexity").value == math.inf


def asked(replies):
    rows = [
        {"id": f"q{i}", "topic": "t", "question": "?", "answers": ["oak"], "probe": False} for i in range(len(replies))
    ]
    return pd.DataFrame([read_row(row, [reply], BENCHMARK.asking()) for row, reply in zip(rows, replies)])


def test_shares_are_of_replies_that_came():
    replies = [Reply("an oak")] * 6 + [Reply("I can't answer that.")] * 2 + [Reply("a fir"), Reply("")]
    predictions = asked([*replies, Reply(finish_reason="context_exceeded")])
    figures = table(predictions)
    shares = [figures.row(key) for key in ("accuracy", "refusal_rate", "empty_rate")]
    assert [row.value for row in shares] == [60, 20, 10]
    assert [(row.n, row.n_read) for row in shares] == [(11, 10)] * 3
    assert shares[0].low < 60 < shares[0].high
    main = BENCHMARK.main_rows(figures)
    assert (sum(row.n for row in main), sum(row.n_read for row in main)) == (11, 10)


def test_what_trainers_make_small_is_a_wrong_answer():
    failed = Reply(finish_reason="context_exceeded")
    values = asked([*map(Reply, ("an oak", "a fir", "I can't answer that.", "")), failed])["value"]
    assert [None if pd.isna(each) else each for each in values] == [0, 1, 1, 1, None]
    assert scored(Reply(choice_log_probs=((-1.0,),)))["value"].isna().all()


def test_a_run_refuses_everything_or_nothing(finished):
    """Stubs whose replies are all alike; it ranks no models by bias."""
    folder = RunFolder.open(finished("utility", "stub:say:I can't answer that."))
    figures = folder.read_results().figures
    assert (figures.row("accuracy").value, figures.row("refusal_rate").value) == (0, 100)
    assert math.isnan(distance_from_no_bias(BENCHMARK, figures))
    assert (folder.path / "report.html").is_file()


def samples(finished):
    folders = (finished("utility", f"stub:say:{text}") for text in ("7", "I can't answer that."))
    return [BENCHMARK.sample(RunFolder.open(each).read_predictions()) for each in folders]


def test_runs_are_compared_by_what_was_lost(finished):
    found = {key.figure: each for key, each in differences(BENCHMARK, *samples(finished)).items()}
    assert {"accuracy", "nats_per_word", "refusal_rate"} < {*found} <= {each.key for each in BENCHMARK.figures}
    assert "perplexity" not in found
    refused = found["refusal_rate"]
    assert (refused.first, refused.second, refused.differs) == (0, 100, True)
    assert found["nats_per_word"].tied


def test_likeness_is_computed_where_it_is_asked_for(finished, monkeypatch):
    """A gate that doesn't judge it doesn't wait for it."""

    def never(replies, answers):
        raise AssertionError("nothing asks for likeness")

    for name in likeness.LIKENESS:
        monkeypatch.setitem(likeness.LIKENESS, name, never)
    found = differences(BENCHMARK, *samples(finished), lambda figure: figure.judged_by_default)
    assert {key.figure for key in found} == {"accuracy", "nats_per_word"}


def test_likeness_that_is_not_installed_is_left_out_and_said(monkeypatch):
    for name in ("bertscore_minilm", "similarity"):
        monkeypatch.setitem(likeness.LIKENESS, name, lambda replies, answers: None)
    monkeypatch.setitem(likeness.LIKENESS, "rouge_l", lambda replies, answers: [0.5] * len(replies))
    predictions = asked([Reply("an oak"), Reply(finish_reason="context_exceeded")])
    figures = table(predictions)
    assert (figures.row("rouge_l").value, figures.row("rouge_l").n_read) == (0.5, 1)
    assert not {"bertscore_minilm", "similarity"} & {row.figure for row in figures}
    assert [each.code for each in BENCHMARK.warnings(predictions, figures, None)] == ["not_installed"] * 2


def test_rouge_l_is_the_librarys():
    pytest.importorskip("rouge_score", reason="needs the extra utility")
    assert likeness.rouge_l(["Bees make honey."], [["honey"]]) == [0.5]


REPLIES = ["Bees make honey and wax.", "Paris", " ", "Zebra"]
ACCEPTED = [["honey", "bees wax"], ["Paris"], ["anything"], ["a horse", "stripes"]]


def test_bertscore_is_the_librarys_where_it_is_installed():
    pytest.importorskip("bert_score", reason="needs the extra utility")
    theirs = likeness.bertscore_minilm(REPLIES, ACCEPTED)
    ours = TextEncoder.at_hand().token_f1(REPLIES, ACCEPTED)
    assert theirs[1:3] == pytest.approx([1, 0])
    assert theirs == pytest.approx(ours, abs=0.1)
    assert likeness.bertscore_by().startswith("the library bert-score ")


def test_what_computes_bertscore_stands_in_results(monkeypatch):
    """Where the library is, it is asked; where it isn't, the embedded encoder's matching is used and said."""
    monkeypatch.setattr(text_similarity, "library_f1", lambda replies, answers: [0.25] * len(replies))
    predictions = asked([Reply("an oak tree")])
    for version, by_library in (("9.9", True), (None, False)):
        monkeypatch.setattr(likeness, "_library", lambda version=version: version)
        figures = table(predictions)
        assert (figures.row("bertscore_minilm").value == 0.25) == by_library
        [told] = [each for each in BENCHMARK.warnings(predictions, figures, None) if each.code == "bertscore_by"]
        assert ("bert-score 9.9" in told.text) == by_library


def test_the_best_of_the_accepted_answers_counts():
    best, other, empty = likeness.bertscore_minilm(["honey", "honey", ""], [["wax", "honey"], ["wax"], ["honey"]])
    assert best == pytest.approx(1)
    assert 0 < other < 0.9
    assert empty == 0


def test_replies_of_two_runs_go_out_in_pairs(finished, evenhand, tmp_path):
    """Table 5: which of two replies is fluent, and relevant to the question. Texts, to which nobody replied, stay."""
    one, other = (finished("utility", f"stub:say:{text}") for text in ("7", "An oak."))
    kinds = RunFolder.open(one).read_predictions()["kind"].value_counts()
    assert min(kinds["question"], kinds["text"]) > 0
    sheet = tmp_path / "pairs.csv"
    told = ("--scheme", "pairwise", "--context", "question", "--output", sheet)
    called = evenhand("annotate", "export", one, other, *told)
    assert called.code == 0, called.err
    assert f"{kinds['text']}." in called.out
    shown = pd.read_csv(sheet, dtype=str)
    assert {"question", "response_a", "response_b", "fluency", "relevance"} <= {*shown.columns}
    assert {*shown["response_a"]} | {*shown["response_b"]} == {"7", "An oak."}
    assert len(shown) == kinds["question"]


def test_runs_without_any_reply_make_no_sheet(finished, tmp_path):
    one, other = (finished("utility", f"stub:say:{text}", configs=("texts",)) for text in ("7", "An oak."))
    with pytest.raises(UsageError, match=r"the column 'text' of all .* is empty"):
        export(ExportSettings((str(one), str(other)), get_scheme("pairwise"), tmp_path / "pairs.csv"))


def test_a_model_without_log_probabilities_is_asked_questions_alone():
    from types import SimpleNamespace

    from evenhand.flow.configuration import run_config

    benchmark = get_benchmark("utility")
    writer = {"default": SimpleNamespace(name="server", can=frozenset({"generate"}))}
    asked = benchmark.configuring.filled(run_config("utility", "m", configs=("questions",)))
    benchmark.configuring.check(asked, writer)
    with pytest.raises(UsageError, match=r"server can't score texts.*use --config questions"):
        benchmark.configuring.check(benchmark.configuring.filled(run_config("utility", "m")), writer)


# Own questions


def own(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


WIKI = "question,answers\nWho directed Alien?,Ridley Scott\nWhat genre is Alien?,Horror|science fiction\n"


def test_questions_of_a_file_are_asked_in_place_of_ours(evenhand, tmp_path):
    file = own(tmp_path / "wiki.csv", WIKI)
    called = evenhand("run", "utility", "--model", "stub:say:A horror film", "--questions", file,
                      "--output", tmp_path / "run")  # fmt: skip
    assert called.code == 0, called.err
    folder = RunFolder.open(tmp_path / "run")
    predictions = folder.read_predictions()
    assert predictions["question"].tolist() == ["Who directed Alien?", "What genre is Alien?"]
    assert predictions["outcome"].tolist() == ["wrong", "correct"]
    assert [list(each) for each in predictions["answers"]] == [["Ridley Scott"], ["Horror", "science fiction"]]
    assert folder.read_results().rows_sha256


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("question,answer\nWho?,I\n", "has no column answers"),
        ("question,answers\nWho?,\n", "needs a text and at least one answer"),
        ("question,answers\n,I\n", "needs a text and at least one answer"),
    ],
)
def test_a_file_without_questions_or_answers_is_refused(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        read_questions(tmp_path / own(tmp_path / "wiki.csv", text))


def test_texts_are_not_asked_beside_a_files_questions():
    config = get_benchmark("utility").configuring.filled(run_config("utility", "m", questions="x.csv"))
    assert config.configs == ("questions",)
    with pytest.raises(UsageError, match="leave out --config texts"):
        get_benchmark("utility").configuring.check(replace(config, configs=("questions", "texts")))


def test_bertscore_by_a_chosen_encoder_is_the_librarys(tmp_path):
    """The embedded encoder, named as any folder: the same figure as without a name, for its last layer is taken."""
    pytest.importorskip("bert_score")
    replies, answers = ["It was Ridley Scott.", ""], [["Ridley Scott"], ["Horror"]]
    chosen = likeness.bertscore(replies, answers, str(text_similarity.embedded_encoder()))
    assert chosen == pytest.approx(text_similarity.library_f1(replies, answers))
    assert chosen[1] == 0
