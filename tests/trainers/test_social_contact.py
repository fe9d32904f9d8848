"""`evenhand train social-contact`: checkpoints that answer, equal weights after a crash, sentences for bad input."""

import json
import re
import shlex
import shutil
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_hypothesis.cuts import cut
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import Asking
from evenhand.models.adapters import find_adapter
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.transformers_model import TransformersModel
from evenhand.trainers import benchmark_rows, run, supervised
from evenhand.trainers import social_contact as trainer
from evenhand.trainers.examples import load_base
from evenhand.trainers.measures import (
    BIASED,
    CONTACT_DESIGN,
    OVER_ACCEPTED,
    OVER_DECLINED,
    PERPLEXITY,
    PROBABILITY,
    HeldOut,
    contact_figures,
    draw_evenly,
    neutral_requests,
)
from evenhand.trainers.progress import unheard
from evenhand.trainers.run import find_checkpoint
from evenhand.trainers.social_contact import SocialContactOptions, SocialContactTrainer
from evenhand.trainers.training_folder import UNFINISHED

ALL_ROWS = benchmark_rows.contact_rows
train = SocialContactTrainer().tune
FIGURES = (BIASED, OVER_ACCEPTED, OVER_DECLINED, PROBABILITY, PERPLEXITY)


def options(model, **others):
    asked = {"model": str(model), "dtype": "float32", "limit": 8, "learning_rate": 0.03, "epochs": 3, "rank": 8}
    return SocialContactOptions(**(asked | {"targets": "all-linear"} | others))


@pytest.fixture(scope="module")
def tuned(tiny_checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    return folder, train(options(tiny_checkpoint, merge=True), folder, unheard)


def test_the_loss_falls_and_the_record_says_what_was_done(tuned, tiny_checkpoint):
    folder, record = tuned
    assert record["losses"][-1] < 0.9 * record["losses"][0]
    written = json.loads((folder / "training.json").read_text())
    assert written["losses"] == record["losses"]
    assert len(record["losses"]) == written["steps"] == 6
    assert written["data"]["examples"] == 3 * written["data"]["prompt_sets"] == 24
    assert written["data"]["distinct_tokens"] < 0.5 * written["data"]["tokens"]
    assert written["packing"] == "tree"
    assert written["base"]["model"] == str(tiny_checkpoint)
    assert {"trl", "peft", "accelerate", "tokenizers", "safetensors", "torch"} <= written["versions"].keys()
    assert json.loads((folder / "merged" / "config.json").read_text())["use_cache"] is True


def test_a_checkpoint_holds_no_pickle_and_nothing_unfinished(tuned):
    folder, _ = tuned
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert {each.name for each in files} >= {"adapter_model.safetensors", "tokenizer.json", "chat_template.jinja"}
    assert not [each for each in files if each.suffix in (".bin", ".pt", ".pth", ".pkl") or each.name.startswith(".")]


def test_adapter_and_merged_weights_answer_alike(tuned, evenhand, tmp_path):
    folder, _ = tuned
    for name in ("adapter", "merged"):
        model = folder / "merged" if name == "merged" else folder
        command = ("run", "contact_hypothesis", "--model", str(model), "--dtype", "float32", "--limit", "12")
        called = evenhand(*command, "--output", str(tmp_path / name))
        assert called.code == 0, called.err
    adapter, merged = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("adapter", "merged"))
    shares = [next(each for each in run["figures"] if each["figure"] == "biased") for run in (adapter, merged)]
    assert shares[0] == shares[1]


def test_it_loads_with_plain_transformers_and_peft(tuned, tiny_checkpoint):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    folder, _ = tuned
    base = AutoModelForCausalLM.from_pretrained(tiny_checkpoint)
    with_adapter = PeftModel.from_pretrained(base, folder).eval()
    merged = AutoModelForCausalLM.from_pretrained(folder / "merged").eval()
    tokens = torch.tensor([[5, 9, 40, 7]])
    assert torch.allclose(with_adapter(tokens).logits, merged(tokens).logits, atol=1e-4)
    assert not with_adapter.peft_config["default"].base_model_name_or_path


def test_a_base_that_was_named_relatively_is_found_from_anywhere(tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tiny_checkpoint.parent)
    train(options(tiny_checkpoint.name, max_steps=1, measure_every=0), tmp_path / "m", unheard)
    monkeypatch.chdir(tmp_path)
    load_model("m", dtype="float32")
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["base"]["model"] == str(tiny_checkpoint)
    assert str(tiny_checkpoint.parent) not in (tmp_path / "m" / "README.md").read_text()


def test_steps_are_told_before_the_first_and_before_what_is_measured_after_them(tiny_checkpoint, tmp_path):
    told = []

    def heard(what, done, steps):
        told.append(f"{done}/{steps}" if what == "training" else what)

    train(options(tiny_checkpoint, max_steps=2, measure_every=1, measured=3), tmp_path / "m", heard)
    steps = [each for each in dict.fromkeys(told) if each[0].isdigit() or each.startswith("measuring after step")]
    assert steps == [
        "measuring after step 0", "0/2", "1/2", "measuring after step 1", "2/2", "measuring after step 2"
    ]  # fmt: skip


class _Killed(Exception):
    pass


def test_a_training_that_was_cut_off_ends_with_the_same_weights(tuned, tiny_checkpoint, tmp_path, monkeypatch):
    """Dropout and the order of examples go on, too; a half-written checkpoint is not taken."""
    whole, _ = tuned
    asked = options(tiny_checkpoint, merge=True, save_every=2)

    def killed_at(what, done, steps):
        if (what, done) == ("training", 5):
            raise _Killed

    output = tmp_path / "cut off"
    with pytest.raises(_Killed):
        train(asked, output, killed_at)
    unfinished = output / UNFINISHED
    newest = find_checkpoint(unfinished)
    assert newest.name == "checkpoint-4"
    half = unfinished / "checkpoint-5"
    half.mkdir()
    (half / "adapter_model.safetensors").write_bytes(b"")
    assert find_checkpoint(unfinished) == newest
    with pytest.raises(UsageError, match="holds an interrupted training with other options"):
        train(options(tiny_checkpoint, rank=8), output, unheard)
    monkeypatch.setenv("WORLD_SIZE", "2")  # each would have random numbers of its own: other weights
    with pytest.raises(UsageError, match=r"or data \(processes\)"):
        train(asked, output, unheard)
    monkeypatch.delenv("WORLD_SIZE")
    record = train(asked, output, unheard)
    assert record["steps"] == 6
    first, second = (load_file(each / "adapter_model.safetensors") for each in (whole, output))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_is_held_out_is_measured_and_changes_nothing(tiny_checkpoint, tmp_path):
    """Before the first step, every so many, after the last; dropout's and the order's chance are as without it."""
    output, asked = tmp_path / "measured", options(tiny_checkpoint, setting="6", max_steps=3)
    record = train(replace(asked, measure_every=2, measured=4), output, unheard)
    assert [each["step"] for each in record["measured"]] == [0, 2, 3]
    first, *_, last = record["measured"]
    assert set(first) == {"step", *FIGURES}
    assert last["perplexity of neutral text"] != first["perplexity of neutral text"] > 1
    assert all(0 <= each[name] <= 100 for each in record["measured"] for name in FIGURES if "%" in name)
    without = train(replace(asked, measure_every=0), tmp_path / "not", unheard)
    assert without["measured"] == []
    card = (output / "README.md").read_text()
    assert "| biased % |" in card
    assert "## What it learned" in card
    assert record["judged"]["sentence"] in card
    assert without["judged"] is None
    assert str(tiny_checkpoint.parent) not in card
    assert (output / "steps.svg").is_file()
    assert "nothing is known of its bias" in (tmp_path / "not" / "README.md").read_text()
    first, second = (load_file(each / "adapter_model.safetensors") for each in (output, tmp_path / "not"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_is_measured_is_what_a_run_of_the_model_says(tiny_checkpoint):
    checkpoint = load_base(options(tiny_checkpoint))
    held_out = draw_evenly(cut("6", benchmark_rows.contact_rows("evenhand"), 42).test, CONTACT_DESIGN, 12, 42)
    assert {row["action"] for row in held_out} == {"positive", "negative"}
    model, benchmark = TransformersModel.from_checkpoint(checkpoint), get_benchmark("contact_hypothesis")
    how = Asking(benchmark.Options(), "choose", benchmark.card.sampling)
    found = [each for row in held_out for each in benchmark.read(row, replies(model, benchmark.ask(row, how)), how)]
    figures = HeldOut(benchmark, held_out, how, contact_figures, checkpoint)(model.model)
    of_action = {each: [a["biased"] for a in found if a["action"] == each] for each in ("positive", "negative")}
    assert figures[BIASED] == pytest.approx(100 * sum(each["biased"] for each in found) / len(found))
    assert figures[OVER_ACCEPTED] == pytest.approx(100 * sum(of_action["negative"]) / len(of_action["negative"]))
    assert figures[OVER_DECLINED] == pytest.approx(100 * sum(of_action["positive"]) / len(of_action["positive"]))


MIXED = [
    {"instruction": "Name a river in Peru.", "input": "", "output": "The Ucayali is one."},
    {
        "instruction": "Put into the past tense.",
        "input": "The baker opens at six.",
        "output": "The baker opened at six.",
    },
    {"instruction": "Which is heavier, iron or cork?", "input": "", "output": "Iron is."},
    {"instruction": "Repeat it.", "input": "again " * 2000, "output": "again"},
]


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("layout", ["chat", "published"])
def test_general_instructions_are_mixed_in(tiny_checkpoint, tmp_path, layout):
    mix = lines(tmp_path / "mix.jsonl", MIXED)
    asked = options(tiny_checkpoint, mix=mix, layout=layout, max_steps=1, measure_every=0)
    said = []
    record = train(asked, tmp_path / "m", lambda what, done, steps: said.append(what))
    [left_out] = [each for each in said if "left out" in each]
    assert left_out.startswith(
        "1 of 4 instructions from mix.jsonl left out: with their answers they have more than 1,024"
    )
    assert "(the longest, line 4, " in left_out
    assert ("general instructions, left out", "3, 1") in SocialContactTrainer().summarize(record)
    assert record["data"]["examples"] == 3 * 8 + 3
    assert record["data"]["mixed"]["examples"] == 3
    assert record["data"]["mixed"]["left_out"] == 1  # longer than 1,024 tokens
    some = train(replace(asked, mix_limit=2), tmp_path / "some", unheard)
    assert some["data"]["mixed"]["examples"] + some["data"]["mixed"]["left_out"] == 2


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"text": "hello"}], "has the columns text"),
        ([{"instruction": "Go on.", "output": " "}], "line 1: output must be a text"),
        (
            [{"instruction": "Go on.", "output": "On."}, {"text": "a"}],
            "line 2: instruction and output must be a text",
        ),
        ([{"messages": [{"role": "user", "content": "hello"}]}], "end with the assistant's"),
        ([{"messages": "hello"}], "end with the assistant's"),
        ([{"messages": [{"role": "assistant", "content": "a"}] * 2}], "end with the assistant's"),
        ([{"instruction": ["x"], "output": "y"}], "line 1: instruction must be a text"),
        ([{"instruction": "x", "output": {"y": 1}}], "line 1: output must be a text"),
        ([{"messages": [{"role": "user", "content": "a"}, {"role": 7, "content": "b"}]}], "end with the assistant's"),
        (
            [{"prompt": "x " * 3000, "completion": "y"}, {"prompt": "x " * 2000, "completion": "y"}],
            r"at most 1,024 tokens with its answer; the shortest, line 2, has \d,\d\d\d",
        ),
    ],
)
def test_what_is_no_instruction_is_refused_before_anything_is_written(tiny_checkpoint, tmp_path, rows, says):
    with pytest.raises(UsageError, match=says):
        train(options(tiny_checkpoint, mix=lines(tmp_path / "mix.jsonl", rows)), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_plan_tells_what_it_takes_and_writes_nothing(evenhand, tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = evenhand("train", "social-contact", "--model", str(tiny_checkpoint), "--limit", "8", "--plan")
    assert called.code == 0, called.err
    for words in ("24 examples, 2 steps, batches tree", "tokens to read", "minutes and", "Nothing was stored."):
        assert words in called.out
    assert not list(tmp_path.iterdir())
    assert "--output DIR is needed" in evenhand("train", "social-contact", "--model", "embedded").err


@pytest.mark.parametrize(
    ("examples", "accumulation", "epochs", "steps", "a_step"),
    [(24, 2, 1, 2, 12), (6, 2, 1, 1, 6), (3, 2, 2, 2, 3), (30, 2, 1, 3, 10), (8, 4, 3, 3, 8)],
)
def test_a_step_may_have_fewer_examples_than_its_passes_hold(examples, accumulation, epochs, steps, a_step):
    """Batches of 6: of 30 examples come 5 passes and 3 steps, the last of one pass."""
    asked = options("m", epochs=epochs, accumulation=accumulation)
    assert asked.count_steps(examples) == steps
    assert asked.examples_a_step(examples) == a_step


def test_a_plan_of_one_step_reads_its_examples_once(evenhand, tiny_checkpoint, tmp_path):
    asked = ("train", "social-contact", "--model", str(tiny_checkpoint), "--limit", "2")
    planned = evenhand(*asked, "--plan")
    assert planned.code == 0, planned.err
    assert "6 examples, 1 step, batches tree" in planned.out
    [tokens] = re.findall(r"about ([\d,]+) tokens to read", planned.out)
    record = train(options(tiny_checkpoint, limit=2, epochs=1, measure_every=0), tmp_path / "m", unheard)
    assert int(tokens.replace(",", "")) == record["data"]["tokens"]


def test_a_limit_of_instructions_without_any_is_refused(evenhand, tmp_path):
    asked = ("train", "social-contact", "--model", "embedded", "--output", str(tmp_path / "m"))
    called = evenhand(*asked, "--mix", "none", "--mix-limit", "5")
    assert called.code == 2
    assert "--mix-limit 5 needs a file" in called.err


@pytest.mark.parametrize(("layout", "begins"), [("published", "### Instruction:"), ("chat", "Follow the instruction:")])
def test_what_is_learned_has_the_published_trainings_layout(tiny_checkpoint, layout, begins):
    """Not that of the published evaluation; the answer alone is learned, without an end."""
    asked = options(tiny_checkpoint, layout=layout)
    rows = benchmark_rows.contact_rows("evenhand")("certainty").select([0])
    checkpoint = load_base(asked)
    examples = trainer.contact_examples(list(rows), asked, checkpoint)
    assert len(examples) == 3
    for example in examples:
        assert begins in checkpoint.tokenizer.decode(list(example.prompt))
        assert checkpoint.tokenizer.decode(list(example.answer)).strip() == rows[0]["unbiased"]


@pytest.mark.parametrize(
    ("others", "here"),
    [
        ({"source": "official"}, {"left_out": "none"}),
        ({"all_rows": True}, {"left_out": "none"}),
        ({}, {"left_out": "implausible crossings"}),
        ({"model": "models/Llama-2-13b-chat-hf/"}, {"base": "meta-llama/Llama-2-13b-chat-hf"}),
        ({"base_id": "meta-llama/Llama-2-13b-chat-hf"}, {"base": "meta-llama/Llama-2-13b-chat-hf"}),
        ({}, {"base": "m", "prompt_sets": 480}),
    ],
)
def test_rows_size_and_base_are_compared_with_the_published(others, here):
    recipe = asdict(SocialContactOptions(model="m")) | others
    assert here.items() <= SocialContactTrainer().compared(recipe, {"prompt_sets": 480}).items()
    published = SocialContactTrainer().published(recipe)
    assert (published["prompt_sets"], published["left_out"], published["source"]) == (10_000, "none", "official")
    assert "setting" in SocialContactTrainer().published(recipe | {"setting": "disjoint"})


def test_contradicting_prompt_sets_are_trained_on_only_where_all_are_wanted():
    some = benchmark_rows.contact_rows("evenhand")("certainty")
    assert all(some["plausible"])
    assert not all(ALL_ROWS("evenhand", all_rows=True)("certainty")["plausible"])


def test_options_of_adapters_are_refused_where_all_weights_are_tuned(evenhand, tmp_path):
    for option, says in (
        (("--merge",), "--merge"),
        (("--rank", "8"), "--rank"),
        (("--targets", "q_proj"), "--targets"),
    ):
        called = evenhand(
            "train",
            "social-contact",
            "--model",
            "embedded",
            "--method",
            "full",
            *option,
            "--output",
            str(tmp_path / "f"),
        )
        assert called.code == 2
        assert f"{says}: for adapters only" in called.err
        assert not (tmp_path / "f").exists()


def test_what_was_tuned_on_the_embedded_model_is_put_on_it(tuned, tmp_path):
    """Not on its public id, whose weights are not quite the same."""
    folder = tmp_path / "tuned"
    shutil.copytree(tuned[0], folder)
    assert find_adapter(str(folder), "tuned", None).base != "embedded"
    record = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps({**record, "base": {"model": "embedded"}}))
    assert find_adapter(str(folder), "tuned", None).base == "embedded"
    for damaged in ("[]", "{", '{"base": "embedded"}'):
        (folder / "training.json").write_text(damaged)
        assert find_adapter(str(folder), "tuned", None).base != "embedded"


def test_the_command_prints_its_table_alone(evenhand, tiny_checkpoint, tmp_path):
    output = tmp_path / "a folder of many words, whose name is long enough to be broken"
    arguments = ("--model", str(tiny_checkpoint), "--dtype", "float32", "--limit", "4", "--output", str(output))
    called = evenhand("train", "social-contact", *arguments, "--batch-size", "4")
    assert called.code == 0
    assert "loss of the first step, mean of the last 1 " in called.out
    assert "grad_norm" not in called.out
    command = f"evenhand run contact_hypothesis --held-out 1 --layout chat --model {shlex.quote(str(output))}"
    assert command in called.out.splitlines()


def test_without_a_chat_template_it_says_so(tiny_checkpoint, tmp_path):
    plain = shutil.copytree(tiny_checkpoint, tmp_path / "plain")
    (plain / "chat_template.jinja").unlink()
    said = []
    asked = options(plain, max_steps=1, measure_every=0)
    record = train(asked, tmp_path / "m", lambda what, done, steps: said.append(what))
    assert "the model has no chat template" in record["note"]
    assert record["note"].partition(". ")[0] in said
    assert record["note"] in (tmp_path / "m" / "README.md").read_text()
    assert SocialContactTrainer().prepare(replace(asked, layout="published"), unheard).note == ""


@pytest.mark.parametrize(
    ("others", "place", "says"),
    [
        ({"targets": "nope"}, "m", "has no layer 'nope'"),
        ({"mix": "absent.jsonl"}, "m", "absent.jsonl does not exist"),
        ({}, "a file/m", "can't write .*a file/m: Not a directory; choose another --output"),
    ],
)
def test_what_can_be_told_at_once_is_told_before_anything_is_read(tiny_checkpoint, tmp_path, others, place, says):
    (tmp_path / "a file").touch()
    told = []
    with pytest.raises(EvenhandError, match=says):
        train(options(tiny_checkpoint, **others), tmp_path / place, lambda what, done, steps: told.append(what))
    assert told == []
    assert [each.name for each in tmp_path.iterdir()] == ["a file"]


def test_a_disk_without_room_is_told_before_the_first_step(tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(run.shutil, "disk_usage", lambda path: SimpleNamespace(free=10_000))
    told = []
    with pytest.raises(EvenhandError, match=r"writes up to 0\.\d\d GB, .* has 0\.00 GB free: .* leave out --merge"):
        train(options(tiny_checkpoint, merge=True), tmp_path / "m", lambda what, done, steps: told.append(what))
    assert told[-1] == "loading the model"
    assert not (tmp_path / "m").exists()


def test_full_weights_can_be_tuned(tiny_checkpoint, tmp_path):
    output = tmp_path / "full"
    record = train(
        options(tiny_checkpoint, method="full", rank=64, targets="default", max_steps=3, learning_rate=1e-2),
        output,
        unheard,
    )
    assert record["losses"][-1] < record["losses"][0]
    assert (output / "model.safetensors").is_file()
    assert not (output / "adapter_config.json").exists()


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError(), MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_memory_that_does_not_suffice_ends_it_in_a_sentence(tiny_checkpoint, tmp_path, monkeypatch, error):
    def given_out(*arguments, **named):
        raise error

    monkeypatch.setattr(supervised.Supervised, "compute_loss", given_out)
    with pytest.raises(EvenhandError, match="out of memory with 6 examples per pass: a smaller --batch-size"):
        train(options(tiny_checkpoint, measure_every=0), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_setting_without_examples_is_refused(tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "contact_examples", lambda *_: [])
    with pytest.raises(UsageError, match="there is no example to learn from"):
        train(options(tiny_checkpoint), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_loss_that_is_no_number_ends_it(tiny_checkpoint, tmp_path):
    with pytest.raises(EvenhandError, match="the loss became"):
        train(
            options(tiny_checkpoint, learning_rate=1e30, clip=1e30, method="full", rank=64, targets="default"),
            tmp_path / "nan",
            unheard,
        )


@pytest.mark.parametrize("measure_every", [0, 1])
def test_what_overflows_after_the_last_step_is_not_saved(tiny_checkpoint, tmp_path, measure_every):
    """No loss was ever computed with these weights: the one of the only step is of those before it."""
    asked = options(tiny_checkpoint, max_steps=1, measure_every=measure_every, learning_rate=1e30)
    with pytest.raises(EvenhandError, match=r"diverged at step 1: .* its answers overflow. It is not saved"):
        train(asked, tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_checkpoint_of_before_the_weights_went_astray_stays(tiny_checkpoint, tmp_path, monkeypatch):
    """Two steps are fine; the third is of weights that somebody broke."""
    step = torch.optim.AdamW.step
    done = []

    def breaks(self, *arguments, **named):
        found = step(self, *arguments, **named)
        done.append(1)
        if len(done) == 3:
            with torch.no_grad():
                self.param_groups[0]["params"][0].fill_(torch.nan)
        return found

    monkeypatch.setattr(torch.optim.AdamW, "step", breaks)
    asked = options(tiny_checkpoint, max_steps=3, save_every=1, measure_every=0)
    with pytest.raises(EvenhandError, match="diverged at step 3"):
        train(asked, tmp_path / "m", unheard)
    left = sorted(each.name for each in (tmp_path / "m" / ".training").glob("checkpoint-*"))
    assert left == ["checkpoint-1", "checkpoint-2"]
    assert not (tmp_path / "m" / "training.json").exists()
    monkeypatch.undo()
    assert train(asked, tmp_path / "m", unheard)["steps"] == 3


def test_bad_input_is_told(evenhand, tuned, tmp_path):
    folder, _ = tuned
    for arguments, says in (
        (("--output", str(tmp_path / "a")), "--model is needed"),
        (("--model", "embedded", "--output", str(folder)), "holds a finished training"),
        (("--model", str(folder), "--output", str(tmp_path / "b")), "is an adapter"),
        (("--model", str(tmp_path / "nowhere"), "--output", str(tmp_path / "c")), "does not exist"),
        (("--model", "embedded", "--setting", "7", "--output", str(tmp_path / "d")), "--setting"),
    ):
        called = evenhand("train", "social-contact", *arguments)
        assert called.code in (1, 2)
        assert says in called.err
        assert "Traceback" not in called.err


@pytest.mark.parametrize("method", ["lora", "full"])
def test_a_divergence_keeps_the_model_what_it_is(tiny_checkpoint, tmp_path, method):
    """With a high coefficient the same steps move what the model makes of other texts less."""
    of_its_own = {} if method == "lora" else {"method": method, "rank": 64, "targets": "default"}
    asked = options(tiny_checkpoint, max_steps=8, measure_every=0, learning_rate=0.01, **of_its_own)
    few = neutral_requests()[:6]

    def scored(folder):
        return np.concatenate([reply.choice_log_probs[0] for reply in replies(load_model(str(folder)), few)])

    moved = {}
    for coefficient in (0.0, 100.0):
        folder = tmp_path / f"{method}-{coefficient}"
        train(replace(asked, divergence=coefficient), folder, unheard)
        moved[coefficient] = np.abs(scored(folder) - scored(tiny_checkpoint)).mean()
    assert moved[100.0] < 0.8 * moved[0.0], moved
