"""Classifiers of sentences: batches answer like single sentences, labels are told apart, and nothing is made up."""

import copy
import itertools
import json
import math
import re
import shutil
from contextlib import contextmanager
from math import prod

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertModel,
    GPT2Config,
    LlamaConfig,
    MPNetConfig,
    RobertaConfig,
)

from evenhand.language_agency.classifier import AgencyClassifier, LabelledSentence, SentenceClassifier
from evenhand.language_agency.label_request import LABELS, agentic_probability, label_request
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Request

POSITIONS = 64
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "initializer_range": 0.3}
ENCODER = SIZES | {"intermediate_size": 64, "max_position_embeddings": POSITIONS}
CONFIGS = {
    "Bert": BertConfig(**ENCODER),
    # Their positions begin behind the padding's: behind 0 here, and always behind 1.
    "Roberta": RobertaConfig(**ENCODER | {"max_position_embeddings": POSITIONS + 1}),
    "MPNet": MPNetConfig(**ENCODER | {"max_position_embeddings": POSITIONS + 2}),
    "Llama": LlamaConfig(**ENCODER, num_key_value_heads=2),
    "GPT-2": GPT2Config(**SIZES, n_positions=POSITIONS),
}
LETTERS = "She leads the team, he cares for those in it; they win."
SENTENCES = [LETTERS[i % 7 : i % 7 + 1 + (13 * i) % 47] for i in range(30)]
LONG = "kind and able " * 40  # several times as long as the models read


def network(name, tokenizer, labels=LABELS, seed=0, **changes):
    config = copy.deepcopy(CONFIGS[name])
    of_tokenizer = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    config.update({**of_tokenizer, "id2label": dict(enumerate(labels)), **changes})
    torch.manual_seed(seed)
    return AutoModelForSequenceClassification.from_config(config)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Several wait for one another longer than such small models compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=CONFIGS)
def name(request):
    return request.param


@pytest.fixture
def classifier(name, tokenizer):
    return AgencyClassifier(network(name, tokenizer), tokenizer, "tiny", tokens_a_batch=256)


@pytest.fixture
def bert(tokenizer):
    return AgencyClassifier(network("Bert", tokenizer), tokenizer, "tiny")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory, tokenizer):
    """A folder that holds a tiny classifier."""
    folder = tmp_path_factory.mktemp("classifier")
    network("Bert", tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def batches(classifier):
    """The shapes of what the model is fed: (sentences, tokens) of each pass."""
    shapes = []
    hook = classifier.model.register_forward_pre_hook(
        lambda _, __, fed: shapes.append(tuple(fed["input_ids"].shape)), with_kwargs=True
    )
    yield shapes
    hook.remove()


def one_by_one(classifier, sentences):
    return np.array([classifier.agentic_probabilities([sentence])[0] for sentence in sentences])


def logits(classifier, sentence):
    """By the definition: one pass without padding."""
    read = classifier.tokenizer(sentence, truncation=True, max_length=POSITIONS, return_tensors="pt")
    with torch.inference_mode():
        return classifier.model(read["input_ids"]).logits[0].double()


def test_batches_equal_single_sentences(classifier):
    """Within 1e-5, whatever else is in the batch; in the order that came, each time it came."""
    shuffled = [SENTENCES[i] for i in np.random.default_rng(0).integers(len(SENTENCES), size=50)]
    with batches(classifier) as fed:
        together = classifier.agentic_probabilities(shuffled)
    assert 1 < len(fed) < len(set(shuffled)) / 3
    alone = one_by_one(classifier, shuffled)
    assert together.shape == (50,)
    assert np.ptp(alone) > 0.05
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)
    for i, j in itertools.combinations(range(50), 2):
        if shuffled[i] == shuffled[j]:
            assert together[i] == together[j]


def test_the_probability_is_the_softmax_of_two_logits(classifier):
    for sentence in SENTENCES[:5]:
        expected = logits(classifier, sentence).softmax(-1)[1]
        assert one_by_one(classifier, [sentence]) == pytest.approx(float(expected), abs=1e-5)


def test_dropout_is_off(tokenizer):
    """A model that comes in training mode answers the same each time."""
    classifier = AgencyClassifier(network("Bert", tokenizer).train(), tokenizer, "tiny")
    first = classifier.agentic_probabilities(SENTENCES)
    np.testing.assert_array_equal(first, classifier.agentic_probabilities(SENTENCES))


def test_no_sentence_no_probability(bert):
    with batches(bert) as fed:
        assert bert.agentic_probabilities([]).shape == (0,)
    assert fed == []


def test_each_distinct_sentence_is_computed_once(bert):
    with batches(bert) as fed:
        bert.agentic_probabilities(SENTENCES * 20)
    assert sum(rows for rows, _ in fed) == len(set(SENTENCES))


@pytest.mark.parametrize("tokens_a_batch", [40, 100, 2048])
def test_no_batch_has_more_tokens_than_asked(tokenizer, tokens_a_batch):
    """With padding; but a longer sentence is a batch of its own. And none has many fewer than it could."""
    classifier = AgencyClassifier(network("Bert", tokenizer), tokenizer, "tiny", tokens_a_batch=tokens_a_batch)
    several = [f"{'very ' * (i % 30)}kind to {i}" for i in range(100)]
    with batches(classifier) as fed:
        classifier.agentic_probabilities(several)
    assert all(prod(shape) <= tokens_a_batch or shape[0] == 1 for shape in fed)
    assert all(rows == tokens_a_batch // tokens or tokens > tokens_a_batch for rows, tokens in fed[:-1])
    assert sum(rows for rows, _ in fed) == 100


def test_padding_costs_little(tokenizer):
    """Sentences of like length go together: of 50 lengths in 200 sentences, less than a tenth of it is padding."""
    classifier = AgencyClassifier(network("Bert", tokenizer), tokenizer, "tiny", tokens_a_batch=256)
    several = [f"{'a' * (i % 50)} {i}" for i in range(200)]
    needed = sum(len(tokenizer(sentence)["input_ids"]) for sentence in several)
    with batches(classifier) as fed:
        classifier.agentic_probabilities(several)
    assert sum(map(prod, fed)) < 1.1 * needed


def test_long_sentences_are_cut(classifier):
    """To the 64 tokens that the model has positions for, so that what comes behind makes no difference."""
    with batches(classifier) as fed:
        cut, other_end, other_start = classifier.agentic_probabilities([LONG, LONG + "leader", "leader " + LONG])
    assert {tokens for _, tokens in fed} == {POSITIONS}
    assert cut == pytest.approx(other_end, abs=1e-6)
    assert abs(cut - other_start) > 1e-4
    np.testing.assert_allclose([cut], one_by_one(classifier, [LONG]), atol=1e-5)


def test_the_tokenizer_may_read_less(tokenizer):
    shorter = copy.deepcopy(tokenizer)
    shorter.model_max_length = 16
    classifier = AgencyClassifier(network("Bert", tokenizer), shorter, "tiny")
    with batches(classifier) as fed:
        classifier.agentic_probabilities([LONG])
    assert fed == [(1, 16)]


@pytest.mark.parametrize("of_model", [None, 7])
@pytest.mark.parametrize("of_tokenizer", [True, False])
def test_decoder_models_find_the_last_token(tokenizer, of_model, of_tokenizer):
    """Whatever padding the configuration names, or none, and with a tokenizer that knows none, as Llama's."""
    padless = copy.deepcopy(tokenizer)
    if not of_tokenizer:
        padless.pad_token = None
    model = network("Llama", tokenizer, pad_token_id=of_model)
    classifier = AgencyClassifier(model, padless, "tiny")
    alone = AgencyClassifier(network("Llama", tokenizer), tokenizer, "tiny")
    assert len({len(ids) for ids in tokenizer(SENTENCES)["input_ids"]}) > 10
    together = classifier.agentic_probabilities(SENTENCES)
    np.testing.assert_allclose(together, one_by_one(alone, SENTENCES), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "agentic_label", "columns"),
    [
        (("communal", "agentic"), None, (0, 1)),
        (("agentic", "communal"), None, (1, 0)),
        (("Agentic", "COMMUNAL"), None, (1, 0)),
        (("LABEL_0", "LABEL_1"), None, (0, 1)),
        (("LABEL_0", "LABEL_1"), "LABEL_0", (1, 0)),
        (("NEGATIVE", "POSITIVE"), "POSITIVE", (0, 1)),
        (("NEGATIVE", "POSITIVE"), "negative", (1, 0)),
        (("other", "agentic"), None, (0, 1)),
        (("agentic", "neutral", "communal"), None, (2, 0)),
        (("neutral", "communal", "active"), "active", (1, 2)),
        ((0, 1), "1", (0, 1)),
    ],
)
def test_labels(tokenizer, labels, agentic_label, columns):
    """Columns of communal and agentic, by the checkpoint's names; the probability is over these two alone."""
    classifier = AgencyClassifier(network("Bert", tokenizer, labels), tokenizer, "tiny", agentic_label)
    communal, agentic = columns
    some = SENTENCES[:5]
    expected = [logits(classifier, sentence)[[communal, agentic]].softmax(-1)[1] for sentence in some]
    np.testing.assert_allclose(classifier.agentic_probabilities(some), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "agentic_label"),
    [
        (("NEGATIVE", "POSITIVE"), None),
        (("NEGATIVE", "POSITIVE"), "agentic"),
        (("communal", "agentic"), "communal"),
        (("LABEL_0", "LABEL_1", "LABEL_2"), None),
        (("neutral", "agentic", "other"), None),
        (("agentic",), None),
        ((0, 1), None),
    ],
)
def test_labels_that_cannot_be_told_apart(tokenizer, labels, agentic_label):
    with pytest.raises(ModelError, match="tiny has the labels") as error:
        AgencyClassifier(network("Bert", tokenizer, labels), tokenizer, "tiny", agentic_label)
    assert ", ".join(map(str, labels)) in str(error.value)
    assert "expected the labels" in str(error.value)


class Lengths(SentenceClassifier):
    """Agentic by the share of 100 characters that a sentence has."""

    identity = "lengths"

    def agentic_probabilities(self, sentences):
        return np.array([min(len(sentence) / 100, 1.0) for sentence in sentences])


def test_requests(bert):
    """The sentence is the last message, the choices the labels; exp of both log-probabilities sums to 1."""
    requests = [label_request(sentence, agent="classifier-1") for sentence in SENTENCES]
    assert requests[3].choices == ("communal", "agentic")
    assert (requests[3].messages[-1].text, requests[3].agent) == (SENTENCES[3], "classifier-1")
    answered = replies(bert, requests)
    assert {reply.finish_reason for reply in answered} == {"choice"}
    np.testing.assert_allclose(
        [[math.exp(only) for [only] in reply.choice_log_probs] for reply in answered],
        [[1 - agentic, agentic] for agentic in bert.agentic_probabilities(SENTENCES)],
        atol=1e-12,
    )
    np.testing.assert_allclose([sum(map(math.exp, sum(each.choice_log_probs, ()))) for each in answered], 1, atol=1e-12)
    np.testing.assert_allclose(
        [agentic_probability(reply) for reply in answered], bert.agentic_probabilities(SENTENCES), atol=1e-12
    )


def test_choices_in_another_order_are_answered_in_that_order():
    messages = (Message("system", "Label this."), Message("user", "x" * 80))
    both = [Request(messages, ("agentic", "communal")), Request(messages, ("communal",))]
    probabilities = [[math.exp(only) for [only] in reply.choice_log_probs] for reply in replies(Lengths(), both)]
    assert probabilities[0] == pytest.approx([0.8, 0.2])
    assert probabilities[1] == pytest.approx([0.2])


def test_certainty_has_finite_log_probabilities():
    """A store keeps numbers, not infinities; and one half stays one half, which is communal."""
    certain, half = replies(Lengths(), [label_request("x" * 200, "a"), label_request("x" * 50, "a")])
    assert all(math.isfinite(only) for [only] in certain.choice_log_probs)
    assert agentic_probability(certain) == 1
    assert math.exp(certain.choice_log_probs[0][0]) < 1e-300
    assert agentic_probability(half) == 0.5


def test_the_label_is_agentic_above_one_half():
    assert [LabelledSentence("", p).label for p in (0, 0.5, 0.501, 1)] == ["communal", "communal", "agentic", "agentic"]


def test_texts_are_labelled_sentence_by_sentence(bert):
    texts = ["She leads. He cares.", "", "- They win\n- they help", "---\n\n12.", "She leads."]
    labelled = list(bert.label(texts))
    assert [[each.text for each in sentences] for sentences in labelled] == [
        ["She leads.", "He cares."], [], ["They win", "they help"], [], ["She leads."],
    ]  # fmt: skip
    assert labelled[1] == ()
    flat = [each for sentences in labelled for each in sentences]
    alone = one_by_one(bert, [each.text for each in flat])
    np.testing.assert_allclose([each.agentic for each in flat], alone, rtol=0, atol=1e-5)
    assert [each.label for each in flat] == ["agentic" if agentic > 0.5 else "communal" for agentic in alone]
    assert list(bert.label([])) == []
    assert list(bert.label(["", "..."])) == [(), ()]


def test_texts_stream():
    """An endless generator is read a part at a time, and every text comes out once, in order."""
    drawn = itertools.count()
    endless = (f"{'x' * (i % 90)}. Text {i}." for i in drawn)
    labelled = list(itertools.islice(Lengths().label(endless), 3000))
    assert [sentences[-1].text for sentences in labelled] == [f"Text {i}." for i in range(3000)]
    assert all(each.agentic == len(each.text) / 100 for sentences in labelled for each in sentences)
    assert next(drawn) < 4000
    first = itertools.count()
    next(Lengths().label(f"Text {i}." for i in first))
    assert next(first) < 1000


def test_a_saved_checkpoint_answers_the_same(checkpoint, bert):
    loaded = AgencyClassifier.from_pretrained(str(checkpoint))
    np.testing.assert_allclose(
        loaded.agentic_probabilities(SENTENCES), bert.agentic_probabilities(SENTENCES), rtol=0, atol=1e-6
    )
    half = AgencyClassifier.from_pretrained(str(checkpoint), dtype="bfloat16")
    assert half.model.dtype == torch.bfloat16
    np.testing.assert_allclose(
        half.agentic_probabilities(SENTENCES), loaded.agentic_probabilities(SENTENCES), rtol=0, atol=0.05
    )


def test_identity_tells_checkpoints_apart(checkpoint, tokenizer, tmp_path):
    """By name, content and precision; not by where a checkpoint lies."""
    shutil.copytree(checkpoint, tmp_path / "copy")
    network("Bert", tokenizer, seed=1).save_pretrained(tmp_path / "other")
    tokenizer.save_pretrained(tmp_path / "other")

    def identity(folder, **options):
        return AgencyClassifier.from_pretrained(str(folder), name="mine", **options).identity

    assert identity(checkpoint) == identity(tmp_path / "copy")
    assert identity(checkpoint).startswith("mine@")
    different = [identity(checkpoint), identity(tmp_path / "other"), identity(checkpoint, dtype="bfloat16")]
    assert len(set(different)) == 3
    assert str(checkpoint) in AgencyClassifier.from_pretrained(str(checkpoint)).identity


def test_identity_tells_apart_which_label_is_agentic(checkpoint, tmp_path):
    """The same weights with their labels the other way round answer otherwise: a store must not mix them."""
    shutil.copytree(checkpoint, tmp_path / "copy")
    config = json.loads((tmp_path / "copy" / "config.json").read_text())
    config |= {"id2label": {"0": "NEGATIVE", "1": "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1}}
    (tmp_path / "copy" / "config.json").write_text(json.dumps(config))
    folder = str(tmp_path / "copy")
    one, other = (AgencyClassifier.from_pretrained(folder, agentic_label=label) for label in ("POSITIVE", "NEGATIVE"))
    assert one.agentic_probabilities(SENTENCES) == pytest.approx(1 - other.agentic_probabilities(SENTENCES), abs=1e-6)
    assert one.identity.startswith(f"{folder}:agentic=POSITIVE@")
    assert other.identity.startswith(f"{folder}:agentic=NEGATIVE@")


def without(*names):
    def change(folder):
        for each in names:
            (folder / each).unlink()

    return change


def written(name, content):
    return lambda folder: (folder / name).write_text(content)


def configured(**changes):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return change


def pickled(folder):
    torch.save(BertModel.from_pretrained(folder).state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (without("config.json"), "model_type"),
        (without("model.safetensors"), "no file named model.safetensors"),
        (pickled, r"its weights are pickled \(pytorch_model.bin\).*Convert them to safetensors"),
        (without("tokenizer.json", "tokenizer_config.json"), "its tokenizer has no vocabulary"),
        (written("config.json", "{"), "not a valid JSON"),
        (written("config.json", "[]"), "list"),
        (written("model.safetensors", ""), "header"),
        (written("model.safetensors", "no weights at all"), "header"),
        (written("tokenizer.json", "{"), "Expecting"),
        (configured(model_type="no-such-model"), "no-such-model"),
        (configured(hidden_size=64), "mismatched"),
        (lambda folder: BertModel.from_pretrained(folder).save_pretrained(folder), "no weights for classifier.bias"),
        (configured(id2label={0: "sad", 1: "glad"}), "has the labels sad, glad"),
        (shutil.rmtree, "could not load"),
    ],
    ids=[
        *("no config", "no weights", "pickled weights", "no tokenizer", "half a config", "no mapping", "empty weights"),
        *(
            "weights of text",
            "half a tokenizer",
            "unknown model",
            "other sizes",
            "no head",
            "other labels",
            "no folder",
        ),
    ],
)
def test_broken_folders(checkpoint, tmp_path, breaks, says):
    """One line that names the folder and says what is accepted; never a classifier whose weights were made up."""
    folder = tmp_path / "broken"
    shutil.copytree(checkpoint, folder)
    breaks(folder)
    with pytest.raises(ModelError, match=says) as error:
        AgencyClassifier.from_pretrained(str(folder))
    message = str(error.value)
    assert "\n" not in message
    assert str(folder) in message
    assert re.search("ccepted:|expected", message)


def test_classifiers_write_nothing(bert):
    with pytest.raises(ModelError, match="tiny labels sentences and writes none"):
        replies(bert, [Request((Message("user", "Why?"),))])


def test_replies_come_batch_by_batch(tokenizer):
    """The longest first; one that is asked twice comes twice, and is computed once."""
    classifier = AgencyClassifier(network("Bert", tokenizer), tokenizer, "tiny", tokens_a_batch=100)
    requests = [label_request(sentence, "a") for sentence in [*SENTENCES, *SENTENCES]]
    with batches(classifier) as fed:
        arriving = classifier.answer(requests)
        next(arriving)
        assert len(fed) == 1
        places = [place for place, _ in arriving]
    assert len(places) == 2 * len(SENTENCES) - 1
    assert sum(rows for rows, _ in fed) == len(set(SENTENCES))


def test_what_a_classifier_can(checkpoint):
    classifier = AgencyClassifier.from_pretrained(str(checkpoint), name="mine")
    assert classifier.can == {"choose"}
    assert classifier.whole_calls
    assert classifier.at_once("choose") == 4096
    assert (classifier.name, Lengths().name) == ("mine", "lengths")
