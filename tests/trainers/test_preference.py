"""`evenhand train preference`: pairs from each source; better answers become likelier; equal weights after a crash."""

import json

import pandas as pd
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.models.prefix_tree import Continuation
from evenhand.models.text_reader import TextReader
from evenhand.trainers.benchmark_rows import BenchmarkOptions
from evenhand.trainers.dpo import Preference, read_pairs
from evenhand.trainers.examples import load_base
from evenhand.trainers.measures import PERPLEXITY, PROBABILITY, UNREAD, VALUE, HeldOut, contact_figures
from evenhand.trainers.pairs import from_file, from_runs, from_targets
from evenhand.trainers.preference import PreferenceOptions, PreferenceTrainer
from evenhand.trainers.progress import unheard
from evenhand.trainers.training_folder import UNFINISHED

train = PreferenceTrainer().tune


def options(model, **others):
    asked = {"model": str(model), "dtype": "float32", "limit": 8, "learning_rate": 0.01, "epochs": 3, "rank": 8}
    return PreferenceOptions(**(asked | {"setting": "6", "measured": 6, "dropout": 0.1} | others))


@pytest.fixture(scope="module")
def tuned(tiny_checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("preferred") / "model"
    return folder, train(options(tiny_checkpoint), folder, unheard)


def test_the_loss_falls_and_ideal_answers_become_likelier_than_their_opposites(tuned):
    """The first loss is that of a model which is its own reference: -log sigmoid 0."""
    folder, record = tuned
    assert record["losses"][0] == pytest.approx(0.6931, abs=1e-3)
    assert record["losses"][-1] < 0.9 * record["losses"][0]
    preferred = record["over_steps"]["better answer preferred, %"]
    assert preferred[0] == 0  # nothing is likelier than before
    assert preferred[-1] >= 75
    assert [each["step"] for each in record["measured"]] == [0, 6]
    written = json.loads((folder / "training.json").read_text())
    assert written["data"]["pairs"] == 3 * written["data"]["rows"] == 24
    assert written["data"]["counts"] == {"rows": 8, "rows without targets": 0}
    assert {"README.md", "steps.svg", "adapter_model.safetensors"} <= {each.name for each in folder.iterdir()}


def test_of_what_was_learned_the_opposite_of_the_ideal_becomes_less_likely(tuned, tiny_checkpoint):
    asked = options(tiny_checkpoint)
    checkpoint = load_base(asked)
    rows, benchmark = asked.training_rows().train, get_benchmark("contact_hypothesis")
    measure = HeldOut(benchmark, rows, asked.asking(), contact_figures, checkpoint)
    base = checkpoint.weights(AutoModelForCausalLM)
    before = measure(base)[PROBABILITY]
    after = measure(PeftModel.from_pretrained(base, tuned[0]).eval().get_base_model())[PROBABILITY]
    assert after < before - 5


class _Killed(Exception):
    pass


@pytest.mark.slow
def test_a_training_that_was_cut_off_ends_with_the_same_weights(tuned, tiny_checkpoint, tmp_path):
    whole, _ = tuned
    asked = options(tiny_checkpoint, save_every=2)

    def killed_at(what, done, steps):
        if (what, done) == ("training", 5):
            raise _Killed

    with pytest.raises(_Killed):
        train(asked, tmp_path / "cut off", killed_at)
    assert (tmp_path / "cut off" / UNFINISHED).is_dir()
    assert train(asked, tmp_path / "cut off", unheard)["steps"] == 6
    first, second = (load_file(each / "adapter_model.safetensors") for each in (whole, tmp_path / "cut off"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_full_weights_are_held_against_the_base_loaded_once_more(tiny_checkpoint, tmp_path):
    asked = options(tiny_checkpoint, method="full", rank=64, dropout=0.0, learning_rate=1e-2, max_steps=3, measured=1)
    record = train(asked, tmp_path / "full", unheard)
    assert record["losses"][0] == pytest.approx(0.6931, abs=1e-3)
    assert record["losses"][-1] < record["losses"][0]


def test_tokens_are_those_that_scoring_reads(tiny_checkpoint):
    """Options stand as they are scored; a written answer has the token behind it that ends one."""
    checkpoint = load_base(options(tiny_checkpoint))
    reader = TextReader(checkpoint.tokenizer, checkpoint.context)
    benchmark, asked = get_benchmark("contact_hypothesis"), options(tiny_checkpoint)
    rows = asked.training_rows().train[:2]
    pairs = from_targets(benchmark, rows, asked.asking()).pairs
    read = read_pairs(pairs, reader, "tiny", end=0)
    for pair, each in zip(pairs, read):
        [options_read] = reader.continuations([pair.request])
        by_option = dict(zip(pair.request.choices, options_read))
        assert by_option[pair.chosen] == Continuation(each.prompt, each.chosen)
        assert by_option[pair.rejected] == Continuation(each.prompt, each.rejected)
    written = asked.asking("generate")
    [ended, *_] = read_pairs(from_targets(benchmark, rows, written).pairs, reader, "tiny", end=0)
    assert ended == Preference(read[0].prompt, (*read[0].chosen, 0), (*read[0].rejected, 0))


def test_runs_that_answer_otherwise_make_pairs_and_what_is_held_out_makes_none(finished):
    """One stub takes the first option, which affirms, one the last, which declines: all are answered both ways."""
    folders = [RunFolder.open(finished("contact_hypothesis", model, limit=12)) for model in ("stub:first", "stub:last")]
    rows = {str(name) for name in folders[0].read_predictions()["row"]}
    some = sorted(rows)[:5]
    found = from_runs(folders, "contact_hypothesis", set(some))
    assert len(found.pairs) == 15
    assert found.counts == {"requests": 36, "requests held out": 21, "requests answered one way": 0}
    asked, benchmark = folders[0].read_config(), get_benchmark("contact_hypothesis")
    all_rows = benchmark.load(asked).rows
    ideal = {
        target.request.messages: (target.ideal, target.opposite)
        for row in all_rows.select([place for place, name in enumerate(all_rows["id"]) if name in some])
        for target in benchmark.targets(row, asked.asking())
    }
    assert all(ideal[pair.request.messages] == (pair.chosen, pair.rejected) for pair in found.pairs)
    alone = from_runs(folders[:1], "contact_hypothesis", rows)
    assert alone.pairs == ()
    assert alone.counts["requests answered one way"] == 36
    with pytest.raises(UsageError, match="use --benchmark contact_hypothesis"):
        from_runs(folders, "contact_controls", rows)


def test_runs_of_ranked_assignments_make_pairs_of_whole_assignments(finished):
    asked = {"configs": ("test",), "limit": 8, "protocol": "rank", "setting": "none", "runs": 1}
    folders = [RunFolder.open(finished("implicit_bias", model, **asked)) for model in ("stub:first", "stub:last")]
    found = from_runs(folders, "implicit_bias", {str(name) for name in folders[0].read_predictions()["row"]})
    assert found.pairs
    for pair in found.pairs:
        assert {pair.chosen, pair.rejected} < {*pair.request.choices}
        assert pair.chosen.startswith("Task 1")


def test_a_chosen_text_that_is_no_option_is_refused(finished, monkeypatch):
    """As of a benchmark that tells a code of it: a pair would teach what nobody was offered."""
    folder = RunFolder.open(finished("contact_hypothesis", "stub:first", limit=12))
    benchmark = type(get_benchmark("contact_hypothesis"))
    read = benchmark.read
    monkeypatch.setattr(benchmark, "read", lambda *asked: [each | {"text": "0"} for each in read(*asked)])
    with pytest.raises(UsageError, match=r"as '0', which is none of its options \("):
        from_runs([folder], "contact_hypothesis", {str(name) for name in folder.read_predictions()["row"]})


def test_any_benchmark_with_ideal_answers_is_learned_and_its_value_measured(tiny_checkpoint, tmp_path):
    asked = options(
        tiny_checkpoint, benchmark="contact_controls", setting=BenchmarkOptions().setting, max_steps=1, measured=4
    )
    record = train(asked, tmp_path / "m", unheard)
    assert record["data"]["pairs"] == 8
    assert record["measured_by"] == "evenhand run contact_controls"
    assert [set(each) for each in record["measured"]] == [{"step", VALUE, UNREAD, PERPLEXITY}] * 2
    assert all(0 <= each[VALUE] <= 1 for each in record["measured"])
    assert "asks what was learned, too" in (tmp_path / "m" / "README.md").read_text()


TURNS = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Who repairs it?"}]


def test_a_file_of_pairs(tmp_path):
    """CSV, JSON and parquet; a text or turns are asked; equal answers make no pair."""
    plain = [{"prompt": "Who repairs it?", "chosen": "Either.", "rejected": "He does."}] * 2
    plain.append({**plain[0], "rejected": "Either."})
    turns = [{"messages": TURNS, "chosen": [{"role": "assistant", "content": "Either."}], "rejected": "He does."}]
    pd.DataFrame(plain).to_csv(tmp_path / "pairs.csv", index=False)
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in turns))
    pd.DataFrame(turns).to_parquet(tmp_path / "pairs.parquet")
    found, _ = from_file(tmp_path / "pairs.csv")
    assert found.counts == {"rows": 3, "rows whose answers are equal": 1}
    assert [(each.request.messages[0].text, each.chosen, each.rejected) for each in found.pairs] == [
        ("Who repairs it?", "Either.", "He does.")
    ] * 2
    for name in ("pairs.jsonl", "pairs.parquet"):
        [pair] = from_file(tmp_path / name)[0].pairs
        assert [each.role for each in pair.request.messages] == ["system", "user"]
        assert (pair.chosen, pair.rejected) == ("Either.", "He does.")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"text": "hello"}, "has the columns text"),
        ({"prompt": "Who?", "chosen": " ", "rejected": "He."}, "chosen is no answer"),
        ({"prompt": [], "chosen": "They.", "rejected": "He."}, "asks"),
        (
            {"messages": [*TURNS, {"role": "assistant", "content": "I."}], "chosen": "a", "rejected": "b"},
            "asks nothing",
        ),
        ({"prompt": "Who?", "chosen": 7, "rejected": "He."}, "chosen is no answer"),
        ({"prompt": "Who?", "chosen": "He.", "rejected": "He."}, "nothing makes a pair"),
    ],
)
def test_what_is_no_pair_is_refused_before_anything_is_written(tiny_checkpoint, tmp_path, row, says):
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError, match=says):
        train(options(tiny_checkpoint, pairs=(str(tmp_path / "pairs.jsonl"),)), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_file_is_trained_on_from_the_command_line(evenhand, tiny_checkpoint, tmp_path):
    row = {"prompt": "Who repairs it?", "chosen": "Either.", "rejected": "He does."}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    model = ("--model", tiny_checkpoint, "--dtype", "float32", "--measure-every", "0")
    called = evenhand("train", "preference", *model, "--pairs", tmp_path / "pairs.jsonl", "--output", tmp_path / "p")
    assert called.code == 0, called.err
    assert "1, pairs.jsonl" in called.out
    said = " ".join(called.out.split())
    assert "To measure it: evenhand run contact_hypothesis --held-out disjoint" in said  # whether it learned from these
    assert "rewards/" not in called.out


def test_a_plan_and_bad_input(evenhand, tiny_checkpoint, tmp_path):
    planned = evenhand("train", "preference", "--model", tiny_checkpoint, "--limit", "4", "--plan")
    assert planned.code == 0, planned.err
    assert "12 pairs" in planned.out or "12 examples, 1 step, batches padded" in planned.out
    model = ("--model", tiny_checkpoint, "--output", tmp_path / "p")
    for arguments, says in (
        (("--pairs", tmp_path / "none"), "does not exist"),
        (("--pairs", "targets", tmp_path / "none"), "targets, or one file, or one run or more"),
        (("--targets", "q_proj,lm_head"), "the output layer"),
        (("--targets", "q_proj, lm_head"), "the output layer"),
        (("--packing", "tree"), "--packing tree"),
        (("--divergence", "0.1"), "by --beta"),
        (("--benchmark", "labe"), "knows no ideal answers"),
        (("--benchmark", "mllm_stereotypes"), "shows pictures"),
        (("--benchmark", "contact_hypothesi"), "did you mean 'contact_hypothesis'?"),
        (("--beta", "0"), "--beta"),
    ):
        called = evenhand("train", "preference", *model, *arguments)
        assert called.code == 2, (arguments, called.err)
        assert says in called.err, (arguments, called.err)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("pairs", ["absent.jsonl", "absent"])
def test_pairs_that_are_not_there_are_told_before_anything_is_read(pairs):
    with pytest.raises(UsageError, match=f"{pairs} does not exist"):
        PreferenceTrainer().check(PreferenceOptions(model="embedded", pairs=(pairs,)))
