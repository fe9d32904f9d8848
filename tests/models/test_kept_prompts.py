"""What prompts share is read once, by texts and by choices, and replies are those of prompts read whole."""

import pytest
import torch

from evenhand.models.choice_scoring import PaddedScoring, score_all
from evenhand.models.kept_prompts import BLOCK, KeptPrompts, shared_end
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.shared_prefix_scoring import LONG, SharedPrefixScoring
from tests.models.test_decoding import PLAIN, build

MANY = 10**9
ROUNDS = (2, 5)


def tokens(n, seed=0):
    return tuple(torch.randint(1, 99, (n,), generator=torch.Generator().manual_seed(seed)).tolist())


def keys_of(kept, prompt):
    """Keys and values of a prompt's whole blocks, of all layers."""
    return torch.cat([each for layer in kept.cache([prompt]).layers for each in (layer.keys, layer.values)])


@pytest.fixture(params=PLAIN)
def model(request):
    return build(PLAIN[request.param])


def test_blocks_are_what_the_whole_prompt_reads_to(model):
    prompt = tokens(3 * BLOCK + 5)
    whole = model(torch.tensor([prompt[: 3 * BLOCK]]), use_cache=True).past_key_values
    expected = torch.cat([each for layer in whole.layers for each in (layer.keys, layer.values)])
    assert torch.allclose(keys_of(KeptPrompts(model, MANY), prompt), expected, atol=1e-5)


@pytest.mark.parametrize(("n", "end"), [(1, 0), (BLOCK, 0), (BLOCK + 1, BLOCK), (3 * BLOCK, 2 * BLOCK)])
def test_something_is_left_to_be_read_behind_the_blocks(n, end):
    assert shared_end(tokens(n)) == end


def test_what_is_shared_is_read_once(model):
    kept = KeptPrompts(model, MANY)
    former = tokens(2 * BLOCK + 7)
    kept.cache([former, former])
    assert kept.n_read == 2 * BLOCK
    kept.cache([former + tokens(BLOCK, seed=1), tokens(BLOCK + 1, seed=2)])
    assert kept.n_read == 4 * BLOCK


def test_what_is_forgotten_is_read_again(model):
    kept = KeptPrompts(model, MANY)
    former = keys_of(kept, tokens(2 * BLOCK + 1))
    kept.forget()
    assert kept.n_bytes == 0
    assert torch.equal(keys_of(kept, tokens(2 * BLOCK + 1)), former)
    assert kept.n_read == 4 * BLOCK


def test_shorter_prompts_stand_at_the_right(model):
    long, short = tokens(2 * BLOCK + 1), tokens(BLOCK + 1, seed=1)
    kept = KeptPrompts(model, MANY)
    [layer, *_] = kept.cache([long, short, (5,)]).layers
    alone = kept.cache([short]).layers[0]
    assert torch.equal(layer.keys[1, :, BLOCK:], alone.keys[0])
    assert not layer.keys[1, :, :BLOCK].any()
    assert not layer.keys[2].any()


def test_whatever_was_dropped_the_bytes_are_the_same(model):
    """Of a call that is repeated, in this process or another."""
    prompts = [tokens(3 * BLOCK, seed=seed)[: BLOCK * 2 + 9 + seed] for seed in range(4)]
    fresh = [keys_of(KeptPrompts(model, MANY), prompt) for prompt in prompts]
    for most_bytes in (0, fresh[0].nbytes, MANY):
        kept = KeptPrompts(model, most_bytes)
        for _ in range(2):
            for prompt, expected in zip(prompts, fresh):
                assert torch.equal(keys_of(kept, prompt), expected)
                assert kept.n_bytes <= most_bytes
        assert kept.n_read == (4 if most_bytes == MANY else 8) * 2 * BLOCK


def test_the_leaf_not_used_for_longest_is_dropped_first(model):
    one, two, three = (tokens(BLOCK + 1, seed=seed) for seed in range(3))
    kept = KeptPrompts(model, 2 * keys_of(KeptPrompts(model, MANY), one).nbytes)
    for prompt in (one, two, one, three):  # two goes
        kept.cache([prompt])
    assert kept.n_read == 3 * BLOCK
    kept.cache([one])
    kept.cache([three])
    assert kept.n_read == 3 * BLOCK
    kept.cache([two])
    assert kept.n_read == 4 * BLOCK


def rounds(*lengths):
    """Of three agents, whose prompts grow from call to call; a few options of several tokens each."""
    for n in lengths:
        prompts = [(1, 2, 3, *tokens(n + agent, seed=agent)) for agent in range(3)]
        yield [Continuation(prompt, answer) for prompt in prompts for answer in ((5,), (6, 7), (6, 8, 9))]


GROWING = (LONG + 70, LONG + 140, LONG + 2 * BLOCK)


def test_a_growing_prompt_is_scored_from_what_was_read_of_it(model):
    """By whichever call: each distinct token goes through the model once, but for those of blocks that aren't whole."""
    fed = []
    model.register_forward_pre_hook(lambda _, __, given: fed.append(given["input_ids"].numel()), with_kwargs=True)
    kept = KeptPrompts(model, MANY)
    shared = SharedPrefixScoring(model, kept_prompts=kept)
    kept.cache([asked[0].prompt for asked in rounds(LONG + 1)])  # of a text that was written
    scored = [score_all(shared, asked) for asked in rounds(*GROWING)]
    computed = sum(fed)
    whole = sum(map(distinct_tokens, rounds(*GROWING)))
    distinct = distinct_tokens([each for asked in rounds(*GROWING) for each in asked])
    assert distinct <= computed < distinct + 3 * len(GROWING) * BLOCK < whole
    for asked, log_probs in zip(rounds(*GROWING), scored):
        for one, other in zip(log_probs, score_all(PaddedScoring(model, padding=0, batch_size=8), asked)):
            assert one == pytest.approx(other, abs=1e-4)


def test_what_was_kept_changes_no_bit_of_what_is_scored(model):
    """Nor does what was dropped: a run that was killed goes on with nothing kept."""
    fresh = [
        score_all(SharedPrefixScoring(model, kept_prompts=KeptPrompts(model, MANY)), each) for each in rounds(*GROWING)
    ]
    for most_bytes in (0, MANY):
        kept = KeptPrompts(model, most_bytes)
        used = SharedPrefixScoring(model, kept_prompts=kept)
        for _ in range(2):
            assert [score_all(used, asked) for asked in rounds(*GROWING)] == fresh
            assert kept.n_bytes <= most_bytes


def test_short_prompts_are_scored_together_and_not_kept(model):
    kept = KeptPrompts(model, MANY)
    score_all(SharedPrefixScoring(model, kept_prompts=kept), next(rounds(LONG - 10)))
    assert not kept.n_read


def test_conversations_of_the_embedded_model_say_the_same(monkeypatch):
    """Prompts that grow, of several lengths, at temperature 0 and drawn; read in blocks, and in padded batches."""
    said = "The roof leaks, and somebody has to mend it before the winter; who has a ladder, and who has the time? "

    def requests(rounds):
        for agent in ("Ann", "Bob"):
            messages = (Message("system", f"Your name is {agent}."), Message("user", said * (1 + rounds)))
            for temperature in (0.0, 0.7):
                yield Request(messages, (), Sampling(temperature=temperature, max_new_tokens=6), seed=rounds)

    texts = {}
    for reads in ("blocks", "padded"):
        model = load_model("embedded", dtype="float32", batch_size=4)
        if reads == "padded":
            monkeypatch.setattr(type(model), "kept_prompts", None)
        texts[reads] = []
        for rounds in ROUNDS:
            asked = list(requests(rounds))
            replies = dict(model.answer(asked))
            texts[reads] += [replies[place].text for place in range(len(asked))]
        if reads == "blocks":
            read = sum(map(len, model.reader.prompts([each for rounds in ROUNDS for each in requests(rounds)])))
            assert model.kept_prompts.n_read < read / 2
    assert texts["blocks"] == texts["padded"]
    assert len(set(texts["blocks"])) > 3
