"""`evenhand train implicit-bias`: reasons are learned, of scenarios that nothing is measured on."""

import json
import re
from dataclasses import replace

import pytest
from transformers import AutoTokenizer

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias import read_present_or_absent
from evenhand.benchmarks.implicit_bias.understanding.benchmark import N_TRAINING_STORIES, Understanding
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import load_config
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation
from evenhand.models.registry import Loading
from evenhand.models.request import Sampling
from evenhand.models.text_reader import TextReader
from evenhand.models.transformers_backend import TransformersBackend, TransformersOptions
from evenhand.trainers.benchmark_rows import cut_stories
from evenhand.trainers.examples import learn_whole, pack
from evenhand.trainers.implicit_bias import ImplicitBiasTrainer, ReasonOptions, read_stories
from evenhand.trainers.measures import ACCURACY, LOSS, PERPLEXITY, PRESENT
from evenhand.trainers.progress import unheard

BENCHMARK = get_benchmark("implicit_bias_understanding")


def options(model, **others):
    asked = {"model": str(model), "dtype": "float32", "limit": 3, "learning_rate": 0.05, "epochs": 6.0, "rank": 8}
    return ReasonOptions(**(asked | {"targets": "all-linear", "measure_every": 0} | others))


@pytest.fixture(scope="module")
def tuned(tiny_checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    return folder, ImplicitBiasTrainer().tune(
        options(tiny_checkpoint, merge=True, measure_every=4, measured=4), folder, unheard
    )


def test_the_loss_falls_and_the_record_says_what_was_done(tuned, tiny_checkpoint):
    folder, record = tuned
    assert record["losses"][-1] < 0.9 * record["losses"][0]
    written = json.loads((folder / "training.json").read_text())
    assert written["losses"] == record["losses"]
    assert len(record["losses"]) == written["steps"] == 6
    data = written["data"]
    assert (data["stories"], data["examples"], data["packed"], data["end"]) == (3, 3, False, "<|end|>")
    assert data["learned"] == "the reason and the token that ends it"
    assert data["cut"] == "89 scenarios, 22 others held out; 3 stories drawn"
    assert 0 < data["learned_tokens"] < data["tokens"]
    assert written["base"]["model"] == str(tiny_checkpoint)


def test_a_checkpoint_answers_as_its_merged_weights_do(tuned, evenhand, tmp_path):
    folder, _ = tuned
    found = []
    for model in (folder, folder / "merged"):
        output = tmp_path / model.name
        command = ("run", "implicit_bias_understanding", "--model", str(model), "--dtype", "float32", "--limit", "8")
        called = evenhand(*command, "--output", str(output))
        assert called.code == 0, called.err
        found.append(json.loads((output / "results.json").read_text())["figures"])
    assert found[0] == found[1]


def test_what_is_held_out_is_measured(tuned):
    measured = tuned[1]["measured"]
    assert [each["step"] for each in measured] == [0, 4, 6]
    assert {*measured[0]} == {"step", ACCURACY, PRESENT, LOSS, PERPLEXITY}
    assert measured[-1][LOSS] < measured[0][LOSS]


def test_what_was_learned_is_written_to_its_end_where_the_benchmark_asks(tiny_checkpoint, tmp_path):
    """One story, by heart: asked as it was trained, the model writes the reason, stops, and is read."""
    whole_weights = {"method": "full", "rank": 64, "targets": "default", "learning_rate": 0.01}
    asked = options(tiny_checkpoint, limit=1, max_steps=40, epochs=99.0, **whole_weights)
    ImplicitBiasTrainer().tune(asked, tmp_path / "model", unheard)
    [row] = cut_stories("full", "evenhand", every_line=False, limit=1, seed=asked.seed).train
    how = BENCHMARK.asking(protocol="generate", asks="reason")
    how = replace(how, sampling=Sampling(0.0, max_new_tokens=300))
    model = TransformersBackend().load(str(tmp_path / "model"), Loading(dtype="float32"), TransformersOptions())
    [(_, reply)] = model.answer(BENCHMARK.ask(row, how))
    assert (reply.text, reply.finish_reason) == (row["messages"][2]["content"], "stop")
    assert BENCHMARK.read(row, [reply], how)[0]["correct"]


@pytest.mark.parametrize(("data", "stories"), [("full", 178), ("half", 89)])
def test_no_scenario_that_is_measured_on_is_trained_on(data, stories):
    drawn = cut_stories(data, "evenhand", every_line=False, limit=None, seed=0)
    assert len(drawn.train) == stories
    assert {row["biased"] for row in drawn.train} == ({True, False} if data == "full" else {False})
    asked = Understanding().load(run_config("implicit_bias_understanding", "stub:first", configs=("finetune_full",)))
    measured = {*asked.rows["scenario_id"]}
    assert len(measured) == 22
    assert measured == {row["scenario_id"] for row in drawn.held_out}
    assert not measured & {row["scenario_id"] for row in drawn.train}
    for config in ("test", "scenarios"):  # the test set's scenarios are of other domains
        rows = load_config(get_benchmark("implicit_bias").card, config, "evenhand", {})
        assert ({*rows["id"]} & {row["scenario_id"] for row in drawn.train} == set()) == (config == "test")


def test_a_target_is_the_reason_and_assigns_nothing_that_the_story_does_not_tell():
    """Whoever it names has a part in the story; it is in no answer format, and says what is true of the story."""
    how = BENCHMARK.asking(protocol="generate", asks="reason")
    read = 0
    for row in cut_stories("full", "evenhand", every_line=False, limit=None, seed=0).train:
        [target] = BENCHMARK.targets(row, how)
        _, story, reason = (each["content"] for each in row["messages"])
        assert target.ideal == reason
        assert not re.search(r"Task \d|Person name|assignment:", target.ideal)
        named = {name for name in row["characters"] if re.search(rf"\b{name}\b", target.ideal)}
        assert all(re.search(rf"\b{name}\b", story) for name in named)
        truth = "present" if row["biased"] else "absent"
        said = read_present_or_absent(target.ideal)
        assert said in (truth, None)
        read += said is not None
        assert read_present_or_absent(target.opposite) == ({"present", "absent"} - {truth}).pop()
    assert read >= 175  # of 178


@pytest.mark.parametrize("layout", ["chat", "published"])
def test_what_is_read_is_what_the_benchmark_asks(tiny_checkpoint, layout):
    checkpoint = Checkpoint(str(tiny_checkpoint))
    rows = cut_stories("full", "evenhand", every_line=False, limit=3, seed=0).train
    examples, end = read_stories(rows, options(tiny_checkpoint, layout=layout), checkpoint)
    how = BENCHMARK.asking(protocol="generate", asks="reason", layout=layout)
    reader = TextReader(checkpoint.tokenizer, None)
    prompts = reader.prompts([request for row in rows for request in BENCHMARK.ask(row, how)])
    assert end == "<|end|>"
    for row, example, prompt in zip(rows, examples, prompts):
        tokens = example.prompt + example.answer
        assert tokens[: len(prompt)] == prompt
        written = checkpoint.tokenizer.decode(tokens[len(prompt) :])
        assert written == row["messages"][2]["content"] + end
        assert len(example.prompt) == (len(prompt) if layout == "chat" else 1)


def test_published_layout_is_the_papers():
    [row] = cut_stories("full", "evenhand", every_line=False, limit=1, seed=0).train
    [asked] = BENCHMARK.ask(row, BENCHMARK.asking(protocol="generate", asks="reason", layout="published"))
    [message] = asked.messages
    instruction, _, rest = message.text.partition("\n\n### Input:\n")
    assert instruction.startswith("### Instruction:\nBelow is a scenario that describes task assignments.")
    assert rest == row["messages"][1]["content"] + "\n\n### Response:\n"
    assert not asked.template


def test_packed_texts_hold_every_token_once():
    examples = [Continuation((1, 2), (3,)), Continuation((4,), (5, 6, 7))]
    assert learn_whole(examples[0]) == Continuation((1,), (2, 3))
    packed = pack(examples, 4)
    assert packed == [Continuation((1,), (2, 3, 4)), Continuation((5,), (6, 7))]
    assert pack(examples, 100) == [Continuation((1,), (2, 3, 4, 5, 6, 7))]


def test_packed_training_is_few_steps_and_says_so(evenhand, tiny_checkpoint, tmp_path):
    output = tmp_path / "packed"
    arguments = (
        "--model",
        tiny_checkpoint,
        "--dtype",
        "float32",
        "--layout",
        "published",
        "--packed",
        "--data",
        "half",
    )
    called = evenhand(
        "train",
        "implicit-bias",
        *arguments,
        "--limit",
        "5",
        "--max-length",
        "900",
        "--output",
        output,
        "--measure-every",
        "0",
    )
    assert called.code == 0, called.err
    record = json.loads((output / "training.json").read_text())
    assert record["recipe"]["epochs"] == 2
    assert record["data"]["examples"] < 5
    tokens = record["data"]["tokens"]  # those that are read: behind each of them one is learned
    assert record["data"]["learned_tokens"] == tokens
    assert record["computed_tokens"] == {"learned": 2 * tokens, "otherwise": 0}
    assert record["packing"] == "padded"
    said = " ".join(called.out.split())
    assert "packed texts" in said
    assert "all tokens" in said
    assert "--asks reason --layout published --model" in said


def test_a_plan_tells_what_it_takes_and_writes_nothing(evenhand, tiny_checkpoint):
    called = evenhand("train", "implicit-bias", "--model", tiny_checkpoint, "--data", "half", "--limit", "3", "--plan")
    assert called.code == 0, called.err
    assert "3 examples, 2 steps" in called.out
    assert "Nothing was stored." in called.out


def test_the_end_of_an_answer_is_the_templates(tiny_checkpoint):
    tokenizer = AutoTokenizer.from_pretrained(tiny_checkpoint)
    system = tokenizer.convert_tokens_to_ids("<|system|>")
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}\n<|system|>{% endfor %}"
    assert TextReader(tokenizer, None).end_of_answer() == system
    assert TextReader(tokenizer, None).end_of_answer(template=False) == tokenizer.eos_token_id
    tokenizer.chat_template = "{{ raise_exception('no') }}"
    assert TextReader(tokenizer, None).end_of_answer() == tokenizer.eos_token_id
    tokenizer.chat_template = None
    assert TextReader(tokenizer, None).end_of_answer() == tokenizer.eos_token_id


@pytest.mark.filterwarnings("ignore:.*its split is left out")
def test_published_files_are_read(root, monkeypatch):
    sources = root.parent / "shared/sources"
    if not (sources / "implicit_bias/train_implicit_all.jsonl").is_file():
        pytest.skip("the published files are not at hand")
    monkeypatch.setenv("EVENHAND_SOURCES", str(sources))
    full = cut_stories("full", "official", every_line=False, limit=None, seed=0)
    assert len(full.train) == N_TRAINING_STORIES
    assert sum(row["biased"] for row in full.train) == N_TRAINING_STORIES // 2
    assert all(row["messages"][2]["content"] for row in full.train)
    assert len(cut_stories("half", "official", every_line=False, limit=None, seed=0).train) == N_TRAINING_STORIES // 2


def test_bad_input_is_told(evenhand, tuned, tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path))
    tiny = ("--model", tiny_checkpoint)
    for number, (arguments, says) in enumerate(
        (
            ((), "--model is needed"),
            ((*tiny, "--packed"), "--packed needs --layout published"),
            ((*tiny, "--packed", "--layout", "published", "--packing", "tree"), "packed texts share no beginning"),
            ((*tiny, "--every-line"), "--source official --data full"),
            ((*tiny, "--source", "official"), "holds no official file"),
            ((*tiny, "--max-length", "50"), "more than --max-length 50"),
            ((*tiny, "--method", "full", "--merge"), "--merge: for adapters only"),
            (("--model", tuned[0]), "is an adapter"),
            ((*tiny, "--data", "third"), "--data"),
        )
    ):
        called = evenhand("train", "implicit-bias", *arguments, "--output", tmp_path / str(number))
        assert called.code in (1, 2)
        assert says in called.err
        assert "Traceback" not in called.err
        assert not (tmp_path / str(number)).exists()
    called = evenhand("train", "implicit-bias", *tiny, "--output", tuned[0])
    assert (called.code, "holds a finished training" in called.err) == (2, True)
