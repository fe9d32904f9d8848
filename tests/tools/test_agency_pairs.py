"""Pairs as LAC was made: the printed prompt, replies read or not but never guessed, checks, duplicates, resuming."""

import importlib.util
import json
import re
import sys
from collections import Counter
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, UsageError
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.request import Reply, Sampling
from evenhand.models.stub import StubModel
from evenhand.tools.generation import pipeline
from evenhand.tools.generation.agency_pairs import (
    AGENTIC_EXAMPLE,
    COMMUNAL_EXAMPLE,
    PARAPHRASE,
    PairGeneration,
    Paraphrases,
    Seed,
    failed_check,
    make_agency_pairs,
    paraphrase_request,
    read_paraphrases,
    read_seeds,
)
from evenhand.tools.generation.near_duplicates import find_duplicates, normalize, similarity
from evenhand.tools.generation.pipeline import KEPT

SEED = "She ran the harbour office for nine years."
AGENTIC = "She took charge of the harbour office and led it for nine years."
COMMUNAL = "She served the people of the harbour and its office for nine years."
PAIR = Paraphrases(AGENTIC, COMMUNAL)
BOTH = {"agentic": AGENTIC, "communal": COMMUNAL}
TOPICS = (
    "a bakery in the old town", "the night train to Lisbon", "two dozen beehives", "a choir of retired sailors",
    "the county's only observatory", "a fleet of yellow taxis", "an orchard above the river", "the museum of clocks",
)  # fmt: skip


def biography(topics):
    """Its seeds are one sentence a topic."""
    middle = " ".join(f"Here the person looks after {topic}." for topic in topics)
    return f"Ada was born in 1950. Her parents were teachers. {middle} She now lives in Leeds."


def asked_about(request):
    return re.search(r"The sentence is: '(.*)'\Z", request.messages[-1].text)[1]


def told(seed):
    """A reply that can be kept."""
    topic = seed.removeprefix("Here the person looks after ").removesuffix(".")
    return json.dumps({"agentic": f"Ada leads and commands {topic}.", "communal": f"Ada kindly helps with {topic}."})


class Scripted(StubModel):
    """Answers each seed by a function of it; remembers what it was asked. Fails after `calls` calls, where given."""

    identity = "scripted"

    def __init__(self, answer=told, at_once=3, calls=None):
        self.answers, self.calls, self.batches = answer, calls, []
        self._at_once = at_once

    def at_once(self, kind):
        return self._at_once

    def answer(self, requests, on_tokens=None):
        if self.calls == len(self.batches):
            raise InterruptedError("killed")
        self.batches.append([asked_about(request) for request in requests])
        return super().answer(requests)

    def reply(self, request):
        assert not request.choices
        reply = self.answers(asked_about(request))
        return reply if isinstance(reply, Reply) else Reply(reply)

    @property
    def asked(self):
        return [seed for batch in self.batches for seed in batch]


@pytest.fixture
def make(tmp_path):
    """make(model, texts, …) → (the run folder, its rows, its counts)."""

    def call(model, biographies, /, output="run", **options):
        config = PairGeneration(model="scripted", **options)
        folder = make_agency_pairs(config, tmp_path / output, biographies, model)
        lines = (folder.path / "pairs.jsonl").read_text(encoding="utf-8").split("\n")
        return folder, [json.loads(line) for line in lines if line], folder.read_record()["counts"]

    return call


# The prompt


def test_the_request_is_table_7_with_its_examples():
    request = paraphrase_request(Seed("bios/3/2", "bios/3", "He said {x} and {sentence}."), Sampling(), 0)
    [message] = request.messages
    assert message.role == "user"
    assert message.content == (
        "You will rephrase a sentence two times to demonstrate agentic and communal language traits respectively. "
        "'agentic' is defined as more achievement-oriented, and 'communal' is defined as more social or "
        "service-oriented. Example of agentic description: [Name] is an achievement-oriented individual with 7 years "
        "of experience being in charge of people and projects in previous workplace environments.. Example of communal "
        "description: [Name] is a people-oriented individual with 7 years of experience being a part of various "
        "financial teams and projects in previous workplace environments.. Output your answer in a json format with "
        "two keys, 'agentic' and 'communal'. The sentence is: 'He said {x} and {sentence}.'"
    )
    assert PARAPHRASE.source == "LABE, Table 7"
    assert not request.choices


def test_the_prompt_is_the_papers(root):
    papers = sorted((root.parent / "shared" / "papers").glob("002_*.txt"))
    if not papers:
        pytest.skip("../shared/papers is absent")
    table = papers[0].read_text(encoding="utf-8").split("Table 7: Prompt")[0]
    cells = dict(re.findall(r"^\| (Prompt|Agentic Example|Communal Example) +\| (.+) \|$", table, re.MULTILINE)[-3:])
    filled = cells["Prompt"].format(cells["Agentic Example"], cells["Communal Example"], SEED)
    assert paraphrase_request(Seed("a/2", "a", SEED), Sampling(), 0).messages[0].content == filled


def test_seeds_of_sampling_differ_by_run_and_sentence():
    one, two = Seed("a/2", "a", SEED), Seed("a/3", "a", SEED)
    sampled = {paraphrase_request(seed, Sampling(None), run).seed for seed in (one, two) for run in (0, 1)}
    assert len(sampled) == 4


# Seeds


def test_the_first_two_sentences_and_the_last_are_dropped():
    seeds, counts = read_seeds([("bios/0", biography(TOPICS[:2])), ("bios/1", "One is. Two is. Three is."), ("b", " ")])
    assert seeds == [
        Seed("bios/0/2", "bios/0", f"Here the person looks after {TOPICS[0]}."),
        Seed("bios/0/3", "bios/0", f"Here the person looks after {TOPICS[1]}."),
    ]
    assert counts == {
        "texts": {"read": 3, "empty": 1},
        "sentences": {"read": 8, "first_two": 4, "last": 2, "too_short": 0, "too_long": 0, "repeated": 0},
    }


@pytest.mark.parametrize(("n", "first_two", "last"), [(0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 2, 1), (4, 2, 1)])
def test_short_biographies(n, first_two, last):
    seeds, counts = read_seeds([("a", " ".join(["This is a sentence."] * n))])
    assert (counts["sentences"]["first_two"], counts["sentences"]["last"]) == (first_two, last)
    assert len(seeds) == n - first_two - last == int(n == 4)


def test_seeds_too_short_too_long_or_repeated_are_counted():
    at_least, at_most = "a" * 15 + ".", "b" * 298 + "."
    middle = ["a" * 14 + ".", at_least, at_most, "b" * 299 + ".", at_least.upper()]
    seeds, counts = read_seeds([("a", "\n".join(["One.", "Two.", *middle, "Last."]))])
    assert [seed.text for seed in seeds] == [at_least, at_most]
    assert [len(seed.text) for seed in seeds] == [16, 299]
    reasons = {"first_two": 2, "last": 1, "too_short": 1, "too_long": 1, "repeated": 1}
    assert counts["sentences"] == {"read": 8} | reasons


# Reading

NO_OBJECT = "no object with both keys"
NESTED = {"agentic": {"description": AGENTIC}, "communal": {"rephrased_sentence": COMMUNAL}}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(BOTH),
        json.dumps(BOTH, indent=2).replace("the harbour", "the\\n  harbour"),
        json.dumps(BOTH).replace("the harbour", "the\nharbour"),
        f"```json\n{json.dumps(BOTH)}\n```",
        f"Sure! For {{the sentence}}:\n{json.dumps(BOTH)}\nI hope that this helps :}}",
        str(BOTH),
        f"Here it is: {BOTH} Anything else?",
        json.dumps(BOTH)[:-1] + ",\n}",
        json.dumps({"Communal ": COMMUNAL, "AGENTIC": AGENTIC}),
        json.dumps(BOTH | {"sentence": SEED, "score": 1, "more": None}),
        json.dumps([BOTH]),
        f"{{{json.dumps(BOTH)}}}",
        json.dumps(NESTED),
        str(NESTED),
        json.dumps(BOTH) * 2,
        json.dumps(BOTH) + " {'agentic': 'cut o",
        json.dumps({"sentence": SEED}) + json.dumps(BOTH),
    ],
)
def test_read(reply):
    assert read_paraphrases(reply) == PAIR


UNREAD = [
    ("", NO_OBJECT),
    ('"agentic": "a", "communal": "b"', NO_OBJECT),
    (json.dumps(BOTH)[:-1], "truncated"),
    ("{'agentic': 'a', 'communal': 'b", "truncated"),
    ("{“agentic”: “a”, “communal”: “b”}", NO_OBJECT),
    ("{'agentic': 'He's a lead', 'communal': 'b'}", NO_OBJECT),
    ("{'agentic': 'He ate at Toys 'r' Us', 'communal': 'b'}", NO_OBJECT),
    ("{'agentic': 'a' + 'b', 'communal': print('b')}", NO_OBJECT),
    ("{'agentic': b'a', 'communal': 'b'}", "not a string"),
    ("{**{'agentic': 'a'}, 'communal': 'b'}", NO_OBJECT),
    ('{"agentic": "a" "communal": "b"}' + json.dumps(BOTH), NO_OBJECT),
    (json.dumps({"agentic": AGENTIC}), NO_OBJECT),
    (json.dumps({"agent": AGENTIC, "communal": COMMUNAL}), NO_OBJECT),
    (json.dumps({"output": BOTH}), NO_OBJECT),
    (json.dumps(BOTH) + json.dumps({"agentic": COMMUNAL, "communal": AGENTIC}), "several objects"),
    (json.dumps({"agentic": [AGENTIC], "communal": COMMUNAL}), "not a string"),
    (json.dumps({"agentic": AGENTIC, "communal": None}), "not a string"),
    (json.dumps({"agentic": {"description": AGENTIC, "source": SEED}, "communal": COMMUNAL}), "not a string"),
    (json.dumps({"agentic": {}, "communal": COMMUNAL}), "not a string"),
    ('{"a": ' * 1600, "truncated"),
    ("{'a': " + "[" * 4000 + "]" * 4000 + "}", NO_OBJECT),
    ("{'a': " + "-" * 9000 + "1}", NO_OBJECT),
    (json.dumps(BOTH) + " " * 10_000, "too long"),
]


@pytest.mark.parametrize(("reply", "reason"), UNREAD)
def test_unread(reply, reason):
    assert read_paraphrases(reply) == reason


def test_a_reply_at_its_limit_of_tokens_was_truncated():
    assert read_paraphrases("{agentic: 'a'}") == NO_OBJECT
    assert read_paraphrases("{agentic: 'a'}", cut=True) == "truncated"
    assert read_paraphrases(json.dumps(BOTH) + " I ho", cut=True) == PAIR


fragments = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
        ":",
        ",",
        "\\",
        "\n",
        "agentic",
        "communal",
        " ",
        "a",
        "#",
        "```",
        "\\ud83d",
        "1e999",
    ]
)
hostile = st.text() | st.lists(fragments | st.just('{"agentic": "a", "communal": "b"}')).map("".join)
words = st.text(min_size=1).filter(lambda text: text.split())


@settings(max_examples=300, deadline=None)
@given(hostile, st.booleans())
@example("{'a': 1" + "0" * 5000 + "}", False)
@example("{'\x00': 1}", False)
@example("{'\\N{x}': 1}", False)
@example('{"a": "\ud83d"}', True)
def test_reading_never_raises(reply, cut):
    found = read_paraphrases(reply, cut)
    assert isinstance(found, (Paraphrases, str))


@settings(max_examples=200, deadline=None)
@given(words, words, st.booleans(), st.booleans())
def test_what_was_written_is_what_is_read(agentic, communal, ascii_only, pythons):
    both = {"agentic": agentic, "communal": communal}
    reply = repr(both) if pythons else json.dumps(both, ensure_ascii=ascii_only)
    assert read_paraphrases(reply) == Paraphrases(" ".join(agentic.split()), " ".join(communal.split()))


# Checks

CHECKS = [
    (AGENTIC, COMMUNAL, None),
    ("", COMMUNAL, "empty"),
    (AGENTIC, "1950 …", "empty"),
    (AGENTIC, AGENTIC.upper().replace(" ", "  "), "same"),
    (AGENTIC, "She served {the people} of the harbour for nine years.", "key or brace"),
    ("Agentic: she led the harbour office for nine years.", COMMUNAL, "key or brace"),
    (AGENTIC, "She joined a communal effort at the harbour for nine years.", "key or brace"),
    (AGENTIC, "The communally run harbour was served for nine years.", None),
    (AGENTIC_EXAMPLE, COMMUNAL, "example"),
    (AGENTIC, COMMUNAL_EXAMPLE.replace("[Name]", "She"), "example"),
    ("[Name] led the harbour office for nine years.", COMMUNAL, "example"),
    (AGENTIC, "She served the people. It was nine years long.", "not one sentence"),
    (f"- {AGENTIC}", COMMUNAL, "not one sentence"),
    (AGENTIC, "She\ud83d served the people of the harbour for nine years.", "not one sentence"),
    ("She led hard now", COMMUNAL, "length"),  # 16 of 42 characters: 0.38
    ("She led it hard .", COMMUNAL, None),  # 17: 0.405
]


@pytest.mark.parametrize(("agentic", "communal", "reason"), CHECKS)
def test_checks(agentic, communal, reason):
    assert failed_check(SEED, Paraphrases(agentic, communal)) == reason


def test_length_is_from_two_fifths_to_three_times_the_seeds():
    seed = "She led all of it to an end and on."
    assert len(seed) == 35
    for n, reason in ((13, "length"), (14, None), (105, None), (106, "length")):
        text = "She " + "a" * (n - 5) + "."
        assert len(text) == n
        assert failed_check(seed, Paraphrases(text, seed)) == reason
        assert failed_check(seed, Paraphrases(seed, text)) == reason


def test_a_name_in_brackets_of_the_seeds_own_is_kept():
    seed = "[Name] ran the harbour office for nine years."
    assert failed_check(seed, Paraphrases("[Name] led the harbour office for nine years.", COMMUNAL)) is None


# Duplicates


def test_similarity_by_hand():
    """abcdefg has 3 sets of 5 letters, abcdefgh those and one more."""
    assert similarity("abcdefg", "ABCDEFGH!") == 3 / 4
    assert similarity("abc", "abc.") == 1
    assert similarity("abcdef", "uvwxyz") == 0
    assert normalize("  The “Café”,\nno. 9! ") == "the café no 9"


def word(n):
    """n different letters: n - 4 sets of 5."""
    return "".join(chr(0x4E00 + i) for i in range(n))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (AGENTIC, AGENTIC, "exact duplicate"),
        (AGENTIC, f" {AGENTIC.upper()[:-1]} !", "exact duplicate"),
        (word(22), word(24), "near duplicate"),  # 18 of 20: 0.9
        (word(24), word(22), "near duplicate"),
        (word(22), word(25), None),  # 18 of 21
        (word(23), word(25), "near duplicate"),  # 19 of 21
        (AGENTIC, COMMUNAL, None),
        ("ab", "ac", None),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_duplicates(first, second, found, side):
    """On either side of a pair, also across sides: one text must not have two labels."""
    other, another = "Quite another thing stands here.", "Something else goes on over there."
    pairs = [Paraphrases(first, other), Paraphrases(*((second, another) if side else (another, second)))]
    assert find_duplicates(pairs) == [None, found]


def test_what_repeats_a_duplicate_only_is_kept():
    """The second pair is left out for its first sentence; its other one may then come again."""
    pairs = [
        Paraphrases("One here", "two there"),
        Paraphrases("one here", "three far"),
        Paraphrases("four", "three far"),
    ]
    assert find_duplicates(pairs) == [None, "exact duplicate", None]


def test_sentences_of_one_pair_may_be_alike():
    assert find_duplicates([Paraphrases(word(30), word(31))]) == [None]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text("abc ", max_size=30).filter(lambda text: text.strip()), max_size=16))
def test_duplicates_are_those_found_by_comparing_all(texts):
    """Looking up rare grams misses nothing."""
    pairs = [Paraphrases(a, b) for a, b in zip(texts[::2], texts[1::2])]
    kept = []
    for pair, found in zip(pairs, find_duplicates(pairs)):
        similarities = [similarity(a, b) for a in pair for other in kept for b in other]
        exact = any(normalize(a) == normalize(b) for a in pair for other in kept for b in other)
        assert found == (
            "exact duplicate" if exact else "near duplicate" if max(similarities, default=0) >= 0.9 else None
        )
        kept += [] if found else [pair]


def test_near_duplicates_among_long_sentences_are_all_found():
    """Each is a word longer than the one before: neighbors are 0.97 alike, those 4 apart 0.89."""
    texts = [word(150 + 4 * i) for i in range(10)]
    alike = {(i, j) for i, j in combinations(range(10), 2) if similarity(texts[i], texts[j]) >= 0.9}
    found = find_duplicates([Paraphrases(text, f"{i} {i} {i} {i}") for i, text in enumerate(texts)])
    kept = [0]
    for j in range(1, 10):
        expected = "near duplicate" if any((i, j) in alike for i in kept) else None
        assert found[j] == expected
        kept += [] if expected else [j]
    assert 1 < len(kept) < 10


# The whole way


def test_rows_of_kept_pairs(make):
    folder, rows, counts = make(Scripted(), [biography(TOPICS[:2]), biography(TOPICS[2:3])])
    assert rows[:2] == [
        {
            "id": f"text/0/2/{label}", "pair": "text/0/2", "seed": f"Here the person looks after {TOPICS[0]}.",
            "text": text, "label": label, "source_id": "text/0",
        }
        for label, text in (
            ("agentic", "Ada leads and commands a bakery in the old town."),
            ("communal", "Ada kindly helps with a bakery in the old town."),
        )
    ]  # fmt: skip
    assert len(rows) == len({row["id"] for row in rows}) == 6
    assert counts["texts"] == {"read": 2, "empty": 0}
    assert counts["sentences"]["read"] == 9
    assert counts["sentences"]["asked"] == 3
    assert counts["pairs"] == {"asked": 3, "kept": 3}
    results = folder.read_record()
    assert (results["benchmark"], results["model_identity"], results["n"]) == ("agency_pairs", "scripted", 3)
    assert results["prompt"] == {"text": PARAPHRASE.text, "source": "LABE, Table 7"}


def test_every_seed_asked_has_one_outcome(make):
    """Of 8: one for each way out, and what is left is kept."""
    replies = {
        0: "no",
        1: json.dumps({"agentic": "Ada leads.", "communal": "Ada leads."}),
        2: told(f"Here the person looks after {TOPICS[3]}."),
        4: Reply(told("x")[:-4], finish_reason="length"),
        5: json.dumps({"agentic": f"Ada leads and commands {TOPICS[6]}!", "communal": "Ada is a friend to all of us."}),
        7: json.dumps(
            {"agentic": f"Ada leads and commands {TOPICS[6]}s.", "communal": "Ada helps with the clocks here."}
        ),
    }
    seeds = [f"Here the person looks after {topic}." for topic in TOPICS]
    folder, rows, counts = make(
        Scripted(lambda seed: replies.get(seeds.index(seed)) or told(seed)), [biography(TOPICS)]
    )
    outcomes = folder.read_predictions().set_index("seed")["outcome"]
    assert [outcomes[seed] for seed in seeds] == [
        NO_OBJECT, "same", KEPT, "exact duplicate", "truncated", KEPT, "exact duplicate", "near duplicate",
    ]  # fmt: skip
    assert [row["pair"] for row in rows[::2]] == ["text/0/4", "text/0/7"]
    assert counts["pairs"] == {
        "asked": 8, "kept": 2, "exact duplicate": 2, NO_OBJECT: 1, "same": 1, "truncated": 1, "near duplicate": 1,
    }  # fmt: skip


def test_nothing_kept_is_an_empty_file(make):
    _, rows, counts = make(Scripted(lambda seed: "no"), [biography(TOPICS)])
    assert rows == []
    assert counts["pairs"] == {"asked": 8, "kept": 0, NO_OBJECT: 8}


def test_an_interrupted_run_goes_on_and_asks_nothing_twice(make, tmp_path):
    texts = [biography(TOPICS[:4]), biography(TOPICS[4:])]
    whole = Scripted(at_once=2)
    expected, *_ = make(whole, texts, output="whole")
    first, second, third = Scripted(at_once=2, calls=2), Scripted(at_once=2), Scripted(at_once=2)
    with pytest.raises(InterruptedError):
        make(first, texts)
    assert not (tmp_path / "run" / "pairs.jsonl").exists()
    folder, *_ = make(second, texts)
    assert first.batches + second.batches == whole.batches
    assert len(whole.asked) == len(set(whole.asked)) == 8
    again, *_ = make(third, texts)
    assert third.batches == []
    for name in ("pairs.jsonl", "results.json", "predictions.parquet"):
        assert (
            (folder.path / name).read_bytes() == (expected.path / name).read_bytes() == (again.path / name).read_bytes()
        )


def test_limit_draws_seeds_spread_over_the_biographies(make):
    texts = [biography(TOPICS[:4]), biography(TOPICS[4:])]
    model = Scripted()
    _, rows, counts = make(model, texts, limit=4)
    assert counts["sentences"]["not_drawn"] == 4
    assert counts["sentences"]["asked"] == len(model.asked) == 4
    assert Counter(row["source_id"] for row in rows) == {"text/0": 4, "text/1": 4}
    drawn = set()
    for seed in range(6):
        model = Scripted()
        make(model, texts, output=f"seed-{seed}", limit=2, seed=seed)
        drawn.add(tuple(model.asked))
    assert len(drawn) > 1


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_kept_pairs_satisfy_every_check(tmp_path_factory, data):
    parts = ["Ada leads ", "Ada helps ", "many", " people", " there.", " {x}", "agentic", ". Then", "\ud83d", " ", ""]
    text = st.lists(st.sampled_from(parts), max_size=6).map("".join)
    reply = hostile | st.fixed_dictionaries({"agentic": text, "communal": text}).map(json.dumps)
    model = Scripted(lambda seed: data.draw(reply | st.just(told(seed))))
    config = PairGeneration(model="scripted")
    folder = make_agency_pairs(config, tmp_path_factory.mktemp("pairs") / "run", [biography(TOPICS)], model)
    rows = [json.loads(line) for line in (folder.path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert Counter(row["label"] for row in rows)["agentic"] * 2 == len(rows)
    assert len({normalize(row["text"]) for row in rows}) == len(rows)
    for agentic, communal in zip(rows[::2], rows[1::2]):
        assert agentic["pair"] == communal["pair"]
        assert agentic["text"].casefold() != communal["text"].casefold()
    for row in rows:
        assert split_sentences(row["text"]) == [row["text"]]
        assert 0.4 <= len(row["text"]) / len(row["seed"]) <= 3
        assert not set("{}") & set(row["text"])
        assert "agentic" not in re.findall(r"\w+", row["text"].casefold())
    counts = folder.read_record()["counts"]
    asked = counts["pairs"].pop("asked")
    assert asked == sum(counts["pairs"].values()) == 8
    assert counts["pairs"]["kept"] == len(rows) // 2


# Files and settings


@pytest.fixture
def bios(tmp_path):
    path = tmp_path / "bios.csv"
    pd.DataFrame({"wiki_bio_text": [biography(TOPICS[:2]), "", biography(TOPICS[2:4])]}).to_csv(path, index=False)
    return str(path)


def test_a_file_needs_no_column_but_the_text(make, bios):
    _, rows, counts = make(Scripted(), None, texts=bios, text_column="wiki_bio_text")
    assert counts["texts"] == {"read": 3, "empty": 1}
    assert [row["source_id"] for row in rows[::2]] == ["bios/0", "bios/0", "bios/2", "bios/2"]


@pytest.mark.parametrize(
    ("options", "texts", "message"),
    [
        ({}, None, "biographies are needed"),
        ({}, ["One is. Two is. Three is."], "no biography has a sentence to paraphrase"),
        ({"limit": 9}, [biography(TOPICS)], "--limit must be from 1 to 8"),
        ({"limit": 0}, [biography(TOPICS)], "--limit: must be a whole number of 1 or more, got 0"),
        ({"temperature": -1.0}, [biography(TOPICS)], "--temperature: must be a number of 0 or more, got -1.0"),
    ],
)
def test_wrong_usage(make, options, texts, message):
    model = Scripted()
    with pytest.raises(UsageError, match=message):
        make(model, texts, **options)
    assert model.batches == []


def test_a_file_and_a_list_is_wrong_usage(make, bios):
    with pytest.raises(UsageError, match="from one place"):
        make(Scripted(), [biography(TOPICS)], texts=bios)


def test_what_failed_for_good_is_counted(make):
    """One of eight: more than one in a hundred, unless more are borne."""
    model = Scripted(lambda seed: Reply(finish_reason="context_exceeded") if TOPICS[2] in seed else told(seed))
    with pytest.raises(EvenhandError, match="1 request failed for good"):
        make(model, [biography(TOPICS)])
    _, rows, counts = make(model, [biography(TOPICS)], max_failed=0.2)
    assert counts["pairs"] == {"asked": 8, "kept": 7, "context exceeded": 1}
    assert TOPICS[2] not in {row["seed"] for row in rows}


def test_a_folder_of_other_settings_is_refused(make):
    make(Scripted(), [biography(TOPICS)])
    with pytest.raises(UsageError, match="seed: 0, not 1"):
        make(Scripted(), [biography(TOPICS)], seed=1)


@pytest.fixture
def script(root):
    path = root / "scripts" / "make_agency_pairs.py"
    spec = importlib.util.spec_from_file_location("make_agency_pairs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script(script, bios, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "load_model", lambda name, **loading: Scripted())
    command = ["make_agency_pairs.py", "--texts", bios, "--text-column", "wiki_bio_text", "--limit", "2"]
    monkeypatch.setattr(sys, "argv", [*command, "--output", str(tmp_path / "run")])
    script.main()
    printed = capsys.readouterr().out
    assert re.search(r"pairs +kept +2", printed)
    assert f"evenhand annotate export {tmp_path / 'run' / 'pairs.jsonl'} --scheme agency --column text" in printed
    assert len((tmp_path / "run" / "pairs.jsonl").read_text().splitlines()) == 4

    monkeypatch.setattr(sys, "argv", [*command[:3], "--output", str(tmp_path / "other")])
    with pytest.raises(SystemExit, match="--text-column"):
        script.main()
