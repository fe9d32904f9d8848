"""`evenhand train agency` on tiny models: it learns, depends on the seed alone, and what it writes is found again."""

import json
import logging
import shutil
from dataclasses import replace

import datasets
import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

import evenhand
from evenhand.errors import UsageError
from evenhand.language_agency import named_classifiers as classifiers
from evenhand.language_agency import trainer as agency_training
from evenhand.language_agency import training as agency
from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.language_agency.lexicon import LexiconClassifier
from evenhand.language_agency.recipes import RECIPES
from evenhand.models import embedded
from evenhand.models.errors import ModelError
from evenhand.options import made
from evenhand.trainers import TRAINERS
from evenhand.trainers.progress import TrainingBar

SENTENCE = "{subject} {verb} the {others} {when}."
SUBJECTS = ("She", "He", "The teacher", "My friend", "The doctor")
VERBS = {0: ("helps", "comforts", "thanks"), 1: ("leads", "directs", "defeats")}  # the telling word
OTHERS = ("team", "class", "group", "company")
TIMES = ("today", "each week", "at work")
QUICK = {"learning_rate": 2e-3, "epochs": 6.0, "batch_size": 16}
BARELY = QUICK | {"epochs": 0.1}  # a step or two, where it doesn't matter what is learnt
TEXTS = ("She leads the team today.", "He helps the class at work.", "My friend thanks the company.")


def sentences(label):
    return [
        SENTENCE.format(subject=subject, verb=verb, others=others, when=when)
        for subject in SUBJECTS
        for verb in VERBS[label]
        for others in OTHERS
        for when in TIMES
    ]


def pairs_of(numbers):
    """Rows of pairs: a communal sentence and the agentic one that differs in the verb alone."""
    of_label = {label: sentences(label) for label in VERBS}
    columns = ((of_label[label][i], label, f"pair {i}") for i in numbers for label in VERBS)
    return datasets.Dataset.from_dict(dict(zip(("text", "label", "pair"), map(list, zip(*columns)))))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Several wait for one another longer than such small models compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data():
    """360 sentences, in pairs: 240 to train, 60 and 60 to judge by."""
    order = np.random.default_rng(0).permutation(len(sentences(0))).tolist()
    splits = {"train": order[:120], "validation": order[120:150], "test": order[150:]}
    return datasets.DatasetDict({split: pairs_of(numbers) for split, numbers in splits.items()})


@pytest.fixture(autouse=True)
def packaged_data(data, monkeypatch):
    """The synthetic sentences in place of `language_agency`."""
    for module in (agency_training, classifiers):
        monkeypatch.setattr(module, "load_dataset", lambda name, source="evenhand": data)


@pytest.fixture(scope="module")
def base(tmp_path_factory, tokenizer):
    """An encoder with random weights and no head, as a local folder."""
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, pad_token_id=tokenizer.pad_token_id, initializer_range=0.1,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def train(output, base, seeds=(0,), changes=QUICK, **options):
    chosen = made(agency_training.AgencyOptions, {"base": str(base), "seeds": seeds, **changes, **options})
    return agency_training.train(chosen, output)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, base, data):
    """(folder, summary) of two seeds."""
    output = tmp_path_factory.mktemp("trained") / "agency"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agency_training, "load_dataset", lambda name, source="evenhand": data)
        return output, train(output, base, seeds=(0, 7))


def probabilities(folder, texts=TEXTS):
    return AgencyClassifier.from_pretrained(str(folder)).agentic_probabilities(texts)


def weights(folder):
    return load_file(folder / "model.safetensors")


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
def test_a_telling_word_is_learnt(trained):
    """Every seed gets more than 90 % of either held-out split right; chance is 50 %."""
    _, summary = trained
    for record in summary["seeds"].values():
        assert set(record["judged"]) == {"validation", "test"}
        for judged in record["judged"].values():
            assert judged["n"] == 60
            assert judged["accuracy"] > 90
            assert judged["intervals"]["accuracy"][0] <= judged["accuracy"] <= judged["intervals"]["accuracy"][1]


@pytest.mark.slow
def test_the_folder(trained, base):
    """A checkpoint a seed with its record beside it; above them the summary, which is what was returned."""
    output, summary = trained
    assert sorted(path.name for path in output.iterdir()) == ["agency.json", "seed-0", "seed-7"]
    assert json.loads((output / "agency.json").read_text()) == json.loads(json.dumps(summary, allow_nan=False))
    for seed in (0, 7):
        record = json.loads((output / f"seed-{seed}" / "agency.json").read_text())
        assert record == json.loads(json.dumps(summary["seeds"][f"seed-{seed}"]))
        assert (record["seed"], record["base"], record["data"]) == (seed, str(base), "language_agency")
        assert record["sentences"] == {"train": 240, "validation": 60, "test": 60}
        assert {key: record["recipe"][key] for key in QUICK} == QUICK
        assert record["versions"]["evenhand"] == evenhand.__version__
        config = json.loads((output / f"seed-{seed}" / "config.json").read_text())
        assert config["id2label"] == {"0": "communal", "1": "agentic"}


@pytest.mark.slow
def test_what_is_reloaded_is_what_was_judged(trained, data):
    """The same probabilities: accuracy and Brier score come out as recorded, and the labels are the telling words'."""
    output, summary = trained
    for seed in ("seed-0", "seed-7"):
        agentic = probabilities(output / seed, data["test"]["text"])
        labels = np.array(data["test"]["label"])
        judged = summary["seeds"][seed]["judged"]["test"]
        assert judged["accuracy"] == pytest.approx(100 * np.mean((agentic > 0.5) == labels))
        assert judged["brier"] == pytest.approx(np.mean((agentic - labels) ** 2), abs=1e-6)
        leads, helps, thanks = probabilities(output / seed)
        assert leads > 0.5 > max(helps, thanks)


@pytest.mark.slow
def test_agreement_between_seeds(trained, data):
    output, summary = trained
    one, other = (probabilities(output / seed, data["test"]["text"]) > 0.5 for seed in ("seed-0", "seed-7"))
    assert summary["agreement"]["test"]["percent"] == pytest.approx(100 * np.mean(one == other))
    assert set(summary["agreement"]) == {"validation", "test"}
    assert summary["agreement"]["validation"]["kappa"] > 0.8


@pytest.mark.slow
def test_the_table_shows_each_seed_above_the_papers_classifiers(trained):
    _, summary = trained
    shown = agency_training.make_table(summary)
    assert [row[0].text.split(", ")[1] for row in shown.rows[:4]] == ["seed-0", "seed-0", "seed-7", "seed-7"]
    assert [row[0].published for row in shown.rows] == [False] * 4 + [True] * 3
    assert {len(row) for row in shown.rows} == {len(shown.columns)}
    published = {row[0].text.split(",")[0].strip(): row[1].text for row in shown.rows[4:]}
    assert published == {"Llama2": "88.20", "Bert": "91.69", "RoBERTa": "91.33"}  # LABE, Table 12: accuracy
    assert "Agreement between seeds, test: " in shown.note


def test_one_seed_has_no_agreement(tmp_path, base):
    """Trained into an empty folder."""
    (tmp_path / "empty").mkdir()
    summary = train(tmp_path / "empty", base, changes=BARELY)
    assert (tmp_path / "empty" / "seed-0" / "agency.json").is_file()
    assert summary["agreement"] == {"validation": None, "test": None}
    note = agency_training.make_table(summary).note
    assert "Agreement" not in note
    assert "Of 100 neutral sentences, to which neither label belongs, seed-0 abstains on " in note
    assert set(summary["seeds"]["seed-0"]["undecided"]) == {"neutral", "mixed"}


@pytest.fixture
def untrained(seeds, monkeypatch):
    """Nothing is learnt: what two seeds gave before is judged."""

    def trained_before(rows, validation, recipe, base_path, seed, steps):
        classifier = AgencyClassifier.from_pretrained(str(seeds / f"seed-{seed}"))
        return classifier.model, classifier.tokenizer

    monkeypatch.setattr(agency, "fine_tune", trained_before)


def test_the_table_of_seeds_that_say_one_thing_alone(tmp_path, base, untrained, monkeypatch):
    """Kappa is undefined where two classifiers give one label throughout: no data, and JSON without NaN."""
    monkeypatch.setattr(AgencyClassifier, "agentic_probabilities", lambda self, texts: np.full(len(texts), 0.9))
    summary = train(tmp_path / "out", base, seeds=(0, 1))
    assert summary["agreement"]["test"] == {"percent": 100, "kappa": None}
    assert "Agreement between seeds, test: 100.0 %, kappa no data." in agency_training.make_table(summary).note
    assert "NaN" not in (tmp_path / "out" / "agency.json").read_text()


def test_the_seed_alone_decides_the_weights(tmp_path, base):
    """To the bit, head and all, alone or after another seed, whatever was drawn before."""
    train(tmp_path / "both", base, seeds=(4, 3), changes=BARELY)
    torch.manual_seed(1)
    train(tmp_path / "alone", base, seeds=(3,), changes=BARELY)
    one, same, other = (weights(tmp_path / run) for run in ("alone/seed-3", "both/seed-3", "both/seed-4"))
    assert equal(one, same)
    assert not equal(one, other)
    assert not torch.equal(one["classifier.weight"], other["classifier.weight"])


def test_a_training_that_was_cut_off_ends_with_the_same_weights(tmp_path, base):
    """The seed that was whole stays, the one that was cut off is trained anew."""
    train(tmp_path / "whole", base, seeds=(0, 1), changes=BARELY)
    options = made(agency_training.AgencyOptions, {"base": str(base), "seeds": (0, 1), **BARELY})

    def killed(what, done, steps):
        if what == "training seed 1 (2 of 2)" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TRAINERS.load("agency")().train(options, tmp_path / "cut off", killed)
    kept = weights(tmp_path / "cut off" / "seed-0")
    assert not (tmp_path / "cut off" / "seed-1").exists()
    train(tmp_path / "cut off", base, seeds=(0, 1), changes=BARELY)
    for seed in ("seed-0", "seed-1"):
        assert equal(weights(tmp_path / "whole" / seed), weights(tmp_path / "cut off" / seed))
    assert equal(kept, weights(tmp_path / "cut off" / "seed-0"))


def test_everything_that_takes_long_is_told(tmp_path, base, caplog, capsys):
    """Of each seed: 15 steps of 16 of 240 sentences, and what is judged; by a bar where nobody else listens."""
    caplog.set_level(logging.INFO, logger="evenhand")
    told = []
    options = made(agency_training.AgencyOptions, {"base": str(base), "seeds": (0, 1), **QUICK, "epochs": 1.0})
    trainer = TRAINERS.load("agency")()
    table = trainer.train(options, tmp_path / "out", lambda *each: told.append(each))
    assert table.note.endswith("To use them:")
    assert table.command == f"evenhand run labe --classifiers {tmp_path / 'out'}"
    assert list(dict.fromkeys(what for what, _, _ in told)) == [
        "reading the sentences of language_agency",
        *(
            what
            for named in ("seed 0 (1 of 2)", "seed 1 (2 of 2)")
            for what in (
                f"{named}: {base} begins to learn from 240 sentences",
                f"training {named}",
                f"judging {named} on validation: 60 sentences",
                f"judging {named} on test: 60 sentences",
            )
        ),
        "comparing the seeds' labels",
    ]
    assert [each[1:] for each in told if each[0] == "training seed 1 (2 of 2)"] == [(step, 15) for step in range(16)]
    assert {record.message for record in caplog.records} >= {"judging seed 1 (2 of 2) on test: 60 sentences"}
    assert "training seed" not in capsys.readouterr().err
    with TrainingBar() as bar:
        for each in told:
            bar.update(*each)
    said = capsys.readouterr().err
    for words in ("judging seed 0 (1 of 2) on test", "training seed 1 (2 of 2): 100%", "15 of 15"):
        assert words in said


@pytest.mark.parametrize("option", [{"epochs": 0.0}, {"learning_rate": 0.0}, {"batch_size": 0}, {"seeds": (-1,)}])
def test_options_out_of_range(option):
    with pytest.raises(UsageError, match=f"--{next(iter(option)).replace('_', '-')}: must be"):
        made(agency_training.AgencyOptions, option)


def test_a_recipe_is_found_by_the_bases_architecture(tmp_path, base, tiny_checkpoint):
    roberta = tmp_path / "roberta"
    RobertaModel(RobertaConfig(hidden_size=8, num_attention_heads=1, num_hidden_layers=1)).save_pretrained(roberta)
    named = {base: RECIPES["bert"], roberta: RECIPES["roberta"], tiny_checkpoint: RECIPES["lora"]}
    for each, recipe in named.items():
        assert RECIPES[agency_training._find_recipe(str(each))] is recipe
    assert agency_training._find_recipe(None) == agency_training._find_recipe("embedded") == "minilm"


def test_the_papers_recipes():
    """LABE, Appendix B.6: learning rate, epochs and batch size; the rest as published. What is ours says so."""
    papers = {name: RECIPES[name] for name in ("bert", "roberta", "lora")}
    assert {name: (each.learning_rate, each.epochs, each.batch_size) for name, each in papers.items()} == {
        "bert": (5e-5, 10, 6),
        "roberta": (5e-6, 10, 6),
        "lora": (5e-5, 5, 6),
    }
    assert [each.lora for each in papers.values()] == [False, False, True]
    for name in ("bert", "roberta"):
        recipe = RECIPES[name]
        assert (recipe.weight_decay, recipe.warmup_steps, recipe.last_step) == (0, 0, 4500)
        assert (recipe.best_epoch, recipe.by_length) == (False, False)
        assert recipe.source.startswith("LABE, Appendix B.6")
    assert all(RECIPES[name].source.startswith("ours: ") for name in ("minilm", "lora"))


def test_what_is_not_the_recipes_own_is_named():
    bert = RECIPES["bert"]
    assert bert.changed({"epochs": 10.0, "batch_size": 6}) == bert
    changed = bert.changed({"epochs": 3.0, "learning_rate": 1e-3})
    assert (changed.epochs, changed.learning_rate) == (3.0, 1e-3)
    assert changed.source == f"{bert.source}; epochs, learning_rate of its own"


@pytest.mark.parametrize(("recipe", "ours"), [("bert", False), ("minilm", True)])
def test_how_a_recipe_trains(tmp_path, base, monkeypatch, recipe, ours):
    """The paper's: 240 sentences by 6 make 40 steps an epoch, of which the third, say, is kept; no weight decays."""
    seen, told = [], []

    class Watched(agency.Trainer):
        def __init__(self, **chosen):
            seen.append(chosen["args"])
            super().__init__(**chosen)

    monkeypatch.setattr(agency, "Trainer", Watched)
    monkeypatch.setitem(RECIPES, "bert", replace(RECIPES["bert"], last_step=3))
    options = made(agency_training.AgencyOptions, {"base": str(base), "recipe": recipe, "epochs": 1.0})
    summary = agency_training.train(options, tmp_path / "out", lambda *each: told.append(each))
    [arguments] = seen
    assert (arguments.weight_decay, arguments.load_best_model_at_end) == ((0.01, True) if ours else (0.0, False))
    assert arguments.train_sampling_strategy == ("group_by_length" if ours else "random")
    steps = [each[1:] for each in told if each[0].startswith("training seed")]
    assert steps[-1] == ((15, 15) if ours else (3, 3))
    source = summary["seeds"]["seed-0"]["recipe"]["source"]
    assert source.endswith("; base, epochs of its own")
    assert f"Recipe: {source}. " in agency_training.make_table(summary).note


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"recipe": "brt"}, "unknown recipe 'brt'; did you mean 'bert'"),
        ({"recipe": "nonsense"}, "accepted: minilm, bert, roberta, lora"),
        ({"seeds": (0, 1, 0)}, "--seeds 0 1 0: a seed is named twice"),
        ({"seeds": ()}, "--seeds names none; name at least one"),
        ({"base": "./no/such/base"}, "base './no/such/base' can't be loaded"),
    ],
)
def test_wrong_usage(tmp_path, base, options, says):
    """Said before anything is trained or written."""
    with pytest.raises(UsageError, match=says):
        train(tmp_path / "out", **{"base": base, **options})
    assert not (tmp_path / "out").exists()


def test_a_folder_in_use_is_left_alone(tmp_path, base):
    """A folder that holds something, or a file."""
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="exists and is not empty; choose another --output"):
        train(tmp_path / "used", base)
    with pytest.raises(UsageError, match="is a file; choose a folder"):
        train(tmp_path / "file", base)
    assert [path.name for path in (tmp_path / "used").iterdir()] == ["notes.txt"]


def test_a_split_to_judge_by_may_be_any(tmp_path, base, data, monkeypatch):
    """Also without a validation split; and LAC's sentences have no pairs."""
    some = datasets.DatasetDict({split: data[split].remove_columns("pair") for split in ("train", "test")})
    monkeypatch.setattr(agency_training, "load_dataset", lambda name, source: some)
    summary = train(tmp_path / "out", base, changes=BARELY, data="official")
    record = summary["seeds"]["seed-0"]
    assert record["data"] == "LAC (Wan & Chang 2024)"
    assert (set(record["judged"]), record["sentences"]) == ({"test"}, {"train": 240, "test": 60})


def test_a_single_pair_to_judge_by_gives_no_interval(tmp_path, base, data, untrained, monkeypatch):
    """In the record: null, for NaN is no JSON."""
    some = datasets.DatasetDict({"train": data["train"], "test": data["test"].select(range(2))})
    assert len(set(some["test"]["pair"])) == 1
    monkeypatch.setattr(agency_training, "load_dataset", lambda name, source: some)
    summary = train(tmp_path / "out", base, changes=BARELY)
    assert "[" not in agency_training.make_table(summary).rows[0][1].text
    for record in (tmp_path / "out").rglob("agency.json"):
        json.loads(record.read_text(), parse_constant=pytest.fail)
    judged = json.loads((tmp_path / "out" / "seed-0" / "agency.json").read_text())["judged"]["test"]
    assert judged["intervals"]["accuracy"] == [None, None]


@pytest.mark.parametrize("splits", [["train"], ["validation", "test"]])
def test_data_must_have_splits_to_train_and_to_judge_by(tmp_path, base, data, splits, monkeypatch):
    some = datasets.DatasetDict({split: data[split] for split in splits})
    monkeypatch.setattr(agency_training, "load_dataset", lambda name, source: some)
    with pytest.raises(UsageError, match=f"has the splits {', '.join(splits)}; train and one to judge by are needed"):
        train(tmp_path / "out", base)


def test_adapters_are_merged(tmp_path, tiny_checkpoint):
    """The LoRA recipe, taken for a decoder by itself: what is saved is an ordinary checkpoint whose weights moved."""
    train(tmp_path / "out", tiny_checkpoint, changes=QUICK | {"epochs": 4.0, "learning_rate": 1e-2})
    folder = tmp_path / "out" / "seed-0"
    assert not list(folder.glob("adapter*"))
    before, after = weights(tiny_checkpoint), weights(folder)
    assert {name for name in after if name not in before} == {"score.weight"}
    assert not [name for name in after if any(part in name for part in ("lora", "base_layer", "modules_to_save"))]
    moved = {name.split(".")[-2] for name in after if name in before and not torch.equal(before[name], after[name])}
    assert moved == {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    record = json.loads((folder / "agency.json").read_text())
    assert record["recipe"]["lora"]
    assert record["judged"]["test"]["accuracy"] > 90
    leads, helps, thanks = probabilities(folder)
    assert leads > 0.5 > max(helps, thanks)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory, base, data):
    """A folder of two seeds that were barely trained."""
    output = tmp_path_factory.mktemp("seeds") / "agency"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agency_training, "load_dataset", lambda name, source="evenhand": data)
        train(output, base, seeds=(0, 1), changes=BARELY)
    return output


def test_a_folder_of_seeds_stands_for_all(seeds):
    """Each with its name, its record and an identity of its own; beside other classifiers, in the order named."""
    loaded = classifiers.load_classifiers(["lexicon", str(seeds), f"{seeds}/seed-1"])
    assert [each.name for each in loaded] == ["lexicon", f"{seeds}/seed-0", f"{seeds}/seed-1", f"{seeds}/seed-1"]
    assert isinstance(loaded[0].classifier, LexiconClassifier)
    assert [each.record.get("seed") for each in loaded] == [None, 0, 1, 1]
    assert loaded[1].record == json.loads((seeds / "seed-0" / "agency.json").read_text())
    identities = [each.classifier.identity for each in loaded]
    assert identities[2] == identities[3]
    assert len(set(identities)) == 3
    for i, each in enumerate(loaded[1:3]):
        np.testing.assert_array_equal(each.classifier.agentic_probabilities(TEXTS), probabilities(seeds / f"seed-{i}"))


def test_the_same_names_are_loaded_once(seeds):
    kept = classifiers.kept_classifiers((str(seeds), "lexicon"))
    assert [each.name for each in kept] == [f"{seeds}/seed-0", f"{seeds}/seed-1", "lexicon"]
    assert classifiers.kept_classifiers((str(seeds), "lexicon")) is kept
    assert classifiers.kept_classifiers(("lexicon",)) is not kept


def test_seeds_stand_in_the_order_of_their_numbers(seeds, tmp_path):
    for seed in ("seed-10", "seed-2", "seed-best", "seed-0"):
        shutil.copytree(seeds / "seed-0", tmp_path / seed)
    loaded = classifiers.load_classifiers([str(tmp_path)])
    assert [each.name for each in loaded] == [f"{tmp_path}/seed-{seed}" for seed in ("0", "2", "10", "best")]


def test_one_classifier_by_name(seeds):
    assert evenhand.load_classifier is classifiers.load_classifier
    assert isinstance(classifiers.load_classifier("lexicon"), LexiconClassifier)
    assert classifiers.load_classifier(f"{seeds}/seed-0").identity.startswith(f"{seeds}/seed-0@")
    with pytest.raises(UsageError, match=f"{seeds} holds 2 classifiers; name one: {seeds}/seed-0, {seeds}/seed-1"):
        classifiers.load_classifier(str(seeds))


@pytest.mark.parametrize("name", ["./no/such/folder", "no-such/classifier-on-any-hub"])
def test_unknown_names(name):
    with pytest.raises(ModelError, match="could not load classifier"):
        classifiers.load_classifiers(["lexicon", name])


def test_an_empty_name():
    with pytest.raises(UsageError, match="the path is empty"):
        classifiers.load_classifiers(["lexicon", ""])


def test_a_folder_without_any_checkpoint(tmp_path):
    (tmp_path / "seed-0").mkdir()
    with pytest.raises(ModelError, match="could not load classifier"):
        classifiers.load_classifiers([str(tmp_path)])


def test_the_agentic_label_is_named_behind_the_folder(seeds, tmp_path):
    """Of one checkpoint and of every seed; without it, or with another name, labels can't be told apart."""
    folders = [tmp_path / "agency" / seed for seed in ("seed-0", "seed-1")]
    for folder in folders:
        model = AgencyClassifier.from_pretrained(str(seeds / folder.name))
        model.model.config.update({"id2label": {0: "NEGATIVE", 1: "POSITIVE"}})
        model.model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
    for name, positive in (("POSITIVE", True), ("negative", False)):
        for path, expected in ((folders[0], folders[:1]), (tmp_path / "agency", folders)):
            loaded = classifiers.load_classifiers([f"{path}:agentic={name}"])
            assert len(loaded) == len(expected)
            for each, folder in zip(loaded, expected):
                agentic = probabilities(seeds / folder.name)
                found = each.classifier.agentic_probabilities(TEXTS)
                np.testing.assert_allclose(found, agentic if positive else 1 - agentic, rtol=0, atol=1e-6)
    identities = {
        classifiers.load_classifier(f"{folders[0]}:agentic={each}").identity for each in ("POSITIVE", "NEGATIVE")
    }
    assert len(identities) == 2  # else a store would take the answers of one for the other's
    for wrong in ("", ":agentic=", ":agentic=agentic"):
        with pytest.raises(ModelError, match="has the labels NEGATIVE, POSITIVE"):
            classifiers.load_classifiers([f"{folders[0]}{wrong}"])


@pytest.fixture
def default(base, tmp_path, monkeypatch):
    """The offline default, with the tiny base, a brief recipe and an empty cache, which is given."""
    brief = replace(RECIPES["minilm"], warmup_steps=0, **BARELY)
    monkeypatch.setattr(embedded, "embedded_encoder", lambda: base)
    monkeypatch.setitem(RECIPES, "minilm", brief)
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_SOURCES", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def trainings(monkeypatch):
    """The seeds of each training, as they come; nothing is learnt, but there is a folder of each."""
    called = []

    def counted(data, recipe, seeds, output, **named):
        called.append(list(seeds))
        for seed in seeds:
            (output / f"seed-{seed}").mkdir(parents=True)

    monkeypatch.setattr(agency, "train_agency", counted)
    return called


def test_the_default_is_trained_once(default, caplog, capsys):
    """Then it is kept in the cache, and nothing else is left there."""
    caplog.set_level(logging.WARNING, logger="evenhand")
    folder = classifiers.default_checkpoint()
    assert "training seed 0 (1 of 1)" in capsys.readouterr().err
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert classifiers.default_checkpoint() == folder
    assert list(default.glob("agency-*")) == [folder]
    assert [record.message for record in caplog.records if "Training the default" in record.message] == [
        f"Training the default agency classifier on language_agency, once, some minutes on two cores: {folder}"
    ]
    [named] = classifiers.load_classifiers(["default"])
    assert named.record["data"] == "language_agency"
    assert (named.name, named.record["seed"]) == ("MiniLM trained on language_agency (default)", 0)
    assert named.record["lac"] == classifiers.ON_LAC.get("default")  # not its accuracy on sentences like its own
    assert str(default) not in named.classifier.identity  # the same on machines whose caches lie elsewhere
    np.testing.assert_array_equal(named.classifier.agentic_probabilities(TEXTS), probabilities(folder))
    assert classifiers.load_classifier().identity == named.classifier.identity
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_the_default_is_trained_on_lac_where_it_can_be_read(default, tmp_path, monkeypatch):
    """A mirror that lacks LAC, or no network, leaves evenhand's sentences; what is in the cache needs neither."""
    read = []

    def train(data, recipe, seeds, output, *, data_name, **_):
        read.append((data, data_name))
        (output / "seed-0").mkdir(parents=True)

    monkeypatch.setattr(agency, "train_agency", train)
    monkeypatch.setattr(classifiers, "load_dataset", lambda name, source: source)
    monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path / "mirror"))
    (tmp_path / "mirror" / "labe").mkdir(parents=True)
    ours = classifiers.default_checkpoint()
    for split in ("train", "validation"):
        (tmp_path / "mirror" / "labe" / f"{split}.csv").touch()
    lac = classifiers.default_checkpoint()
    assert read == [("evenhand", "language_agency"), ("official", "LAC (Wan & Chang 2024)")]
    monkeypatch.delenv("EVENHAND_SOURCES")
    assert ours != lac == classifiers.default_checkpoint()
    assert len(read) == 2


def test_another_recipe_is_another_default(default, trainings, monkeypatch):
    """What was trained by another recipe isn't taken for it."""
    first = classifiers.default_checkpoint()
    monkeypatch.setitem(RECIPES, "minilm", replace(RECIPES["minilm"], learning_rate=1e-5))
    second = classifiers.default_checkpoint()
    assert sorted(default.glob("agency-*")) == sorted([first, second])
    assert trainings == [[0], [0]]


def test_a_training_that_fails_leaves_nothing(default, trainings, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(agency, "train_agency", fails)
        with pytest.raises(RuntimeError, match="no memory"):
            classifiers.default_checkpoint()
    assert list(default.glob("agency-*")) == []
    assert classifiers.default_checkpoint().is_dir()


def test_another_process_may_be_faster(default, trainings, monkeypatch):
    """Both train; what came first stays, and both use it."""
    real = agency.train_agency

    def meanwhile(*arguments, **named):
        with monkeypatch.context() as patch:
            patch.setattr(agency, "train_agency", real)
            (classifiers.default_checkpoint() / "first").touch()
        return real(*arguments, **named)

    monkeypatch.setattr(agency, "train_agency", meanwhile)
    folder = classifiers.default_checkpoint()
    assert (folder / "first").is_file()
    assert list(default.glob("agency-*")) == [folder]
