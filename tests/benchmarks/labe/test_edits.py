"""Edits: read from any reply without a guess, applied to a text where they belong and nowhere else."""

import json
import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.labe.edits import (
    MAX_EDITS,
    Edit,
    Parsed,
    parse_edits,
    parse_rewrite,
    place_edits,
    replace_placed,
)


def edited(text, edits):
    """(the text with every edit that has a place, what became of each)"""
    placed = place_edits(text, edits)
    return replace_placed(text, placed), [each.outcome for each in placed]


LIST = '[{"original": "is kind", "edited": "leads"}, {"original": "warm", "edited": "bold"}]'
EDITS = (Edit("is kind", "leads"), Edit("warm", "bold"))

READ_WHOLE = {
    "a bare list": LIST,
    "an object": '{"edits": ' + LIST + "}",
    "as in Table 15, without its braces": '"edits": ' + LIST,
    "dots behind the last edit, as in Table 15": LIST.replace('"bold"}', '"bold"...}'),
    "dots behind the last entry": LIST.replace('"}]', '"}, ...]'),
    "a code fence": f"```json\n{LIST}\n```",
    "prose around": f"Sure, here are the edits [as asked]:\n{LIST}\nI hope {{this}} helps!",
    "trailing commas": LIST.replace('"}', '",}').replace("]", ",]"),
    "Python's quotes": LIST.replace('"', "'"),
    "both kinds of quotes": LIST.replace('"warm"', "'warm'"),
    "other keys": LIST.replace('"edited"', '"label": "communal", "sentence": 2, "sure": true, "edited"'),
    "escapes": LIST.replace("warm", "\\u0077arm").replace("is kind", "is\\u0020kind"),
    "a line break in a string": LIST.replace("is kind", "is\nkind"),
    "lines": json.dumps(json.loads(LIST), indent=2),
}


@pytest.mark.parametrize("reply", READ_WHOLE.values(), ids=READ_WHOLE)
def test_edits_are_read_whatever_surrounds_them(reply):
    parsed = parse_edits(reply)
    assert [edit.original.split() for edit in parsed.edits] == [edit.original.split() for edit in EDITS]
    assert [edit.edited for edit in parsed.edits] == [edit.edited for edit in EDITS]
    assert not parsed.malformed


FIRST, SECOND = EDITS
READ_IN_PART = {
    "nothing": ("", ()),
    "a refusal": ("I can't help with that.", ()),
    "cut in the second edit": (LIST[: LIST.index("bold")], (FIRST,)),
    "cut before the bracket": (LIST[:-1], EDITS),
    "a number": (LIST.replace('"leads"', "3"), (SECOND,)),
    "null": (LIST.replace('"warm"', "null"), (FIRST,)),
    "a list": (LIST.replace('"leads"', '["leads"]'), (SECOND,)),
    "other names": (LIST.replace('"edited": "leads"', '"edit": "leads"'), (SECOND,)),
    "names in capitals": (LIST.replace("original", "Original").replace("edited", "Edited"), ()),
    "no edited": (LIST.replace(', "edited": "leads"', ""), (SECOND,)),
    "a name given twice": (LIST.replace('"is kind"', '"is kind", "original": "is"'), (SECOND,)),
    "a quote that ends too early": (LIST.replace('"is kind"', "'she's kind'"), (SECOND,)),
    "no escape": (LIST.replace("bold", "\\d"), (FIRST,)),
    "half a character": (LIST.replace("bold", "\\ud83d"), (FIRST,)),
    "lines without a list": (LIST[1:-1].replace("}, ", "}\n"), EDITS),
    "two lists": (f"{LIST}\n{LIST}", EDITS * 2),
    "strings": ('["is kind", "leads"]', ()),
}


@pytest.mark.parametrize(("reply", "edits"), READ_IN_PART.values(), ids=READ_IN_PART)
def test_what_is_unreadable_is_left_out_and_said(reply, edits):
    assert parse_edits(reply) == Parsed(edits, malformed=True)


@pytest.mark.parametrize("reply", ["[]", '{"edits": []}', "```\n[ ]\n```", "[...]"])
def test_an_empty_list_is_an_answer(reply):
    assert parse_edits(reply) == Parsed((), malformed=False)


def test_a_reply_that_repeats_itself_is_read_up_to_a_limit():
    repeated = json.dumps([{"original": "a", "edited": "b"}] * (MAX_EDITS + 1))
    assert parse_edits(repeated) == Parsed((Edit("a", "b"),) * MAX_EDITS, malformed=True)
    whole = json.dumps([{"original": "a", "edited": "b"}] * MAX_EDITS)
    assert parse_edits(whole) == Parsed((Edit("a", "b"),) * MAX_EDITS, malformed=False)


@pytest.mark.parametrize(
    "piece", ["[", '{"a":', '{"a": 1...', "{'", '{"', '{"a": 1, ', '[{"original":', '{"\\', '"a": 1.5...,', "[ , ."]
)
@pytest.mark.parametrize("before", ["", "{", '{"original": "'])
def test_bombs_take_no_time(before, piece):
    start = time.perf_counter()
    assert parse_edits(before + piece * 20_000) == Parsed((), malformed=True)
    assert time.perf_counter() - start < 5


# Texts of the marks that matter find more than texts of any characters.
hostile = st.text() | st.text("{}[]\"'\\:,. \nau\ud83d", max_size=60) | st.lists(
    st.sampled_from([LIST, '"original"', "'edited'", "{", "}", "[", "]", ":", ",", "...", '"', "\\", " ", "\x00"])
).map("".join)  # fmt: skip


@given(reply=hostile)
def test_reading_never_raises(reply):
    parsed = parse_edits(reply)
    assert all(isinstance(each.original, str) and isinstance(each.edited, str) for each in parsed.edits)
    parse_rewrite(reply, "She is kind.")


phrases = st.text(min_size=1)
asked_edits = st.lists(st.builds(Edit, phrases, phrases), max_size=5)


def records(edits):
    return [{"original": edit.original, "edited": edit.edited} for edit in edits]


@given(edits=asked_edits, ascii_only=st.booleans(), indent=st.none() | st.integers(0, 3))
def test_what_json_writes_is_read_back(edits, ascii_only, indent):
    dumped = json.dumps(records(edits), ensure_ascii=ascii_only, indent=indent)
    assert parse_edits(dumped) == Parsed(tuple(edits), malformed=False)
    assert parse_edits(f'{{"edits": {dumped}}}') == Parsed(tuple(edits), malformed=False)


@given(edits=asked_edits)
def test_what_python_writes_is_read_back(edits):
    assert parse_edits(repr(records(edits))) == Parsed(tuple(edits), malformed=False)


@given(edits=asked_edits.filter(len), data=st.data())
def test_a_reply_cut_anywhere_keeps_the_edits_before_the_cut(edits, data):
    each = [json.dumps(record) for record in records(edits)]
    whole = f"[{', '.join(each)}]"
    cut = data.draw(st.integers(0, len(whole) - 1))
    ends = [len(f"[{', '.join(each[: i + 1])}") for i in range(len(each))]
    assert parse_edits(whole[:cut]) == Parsed(tuple(edits[: sum(end <= cut for end in ends)]), malformed=True)


TEXT = "Dear all,\n\nShe is warm. She is\nkind and warm.\r\n  He is kind, too.\n"


@pytest.mark.parametrize(
    ("edits", "text", "outcomes"),
    [
        ([], TEXT, []),
        ([("kind and", "bold and")], TEXT.replace("kind and", "bold and"), ["applied"]),
        # White space in the original may be any in the text; the text keeps its own around it.
        ([("She is kind and warm.", "She leads.")], TEXT.replace("She is\nkind and warm.", "She leads."), ["applied"]),
        ([(" She\tis  warm.\n", "  She leads. ")], TEXT.replace("She is warm.", "She leads."), ["applied"]),
        # As it is written comes before any white space; then the first place, then the next one that is free.
        ([("is\nkind", "leads")], TEXT.replace("is\nkind", "leads"), ["applied"]),
        ([("is kind", "leads")], TEXT.replace("is kind", "leads"), ["applied"]),
        ([("warm", "bold")], TEXT.replace("warm", "bold", 1), ["applied"]),
        ([("warm", "bold"), ("warm", "firm")], TEXT.replace("is warm", "is bold").replace("and warm", "and firm"),
         ["applied", "applied"]),
        ([("is kind", "leads"), ("is kind", "acts")], TEXT.replace("is kind", "leads").replace("is\nkind", "acts"),
         ["applied", "applied"]),
        ([("warm", "bold")] * 3, TEXT.replace("warm", "bold"), ["applied", "applied", "overlapping"]),
        ([("kind and warm", "bold"), ("and", "or")], TEXT.replace("kind and warm", "bold"), ["applied", "overlapping"]),
        ([(TEXT, "She leads.")], "She leads.\n", ["applied"]),
        # Whole words: "e is kind" is not what the text says, nor is "he is".
        ([("e is kind", "leads")], TEXT, ["not found"]),
        ([("war", "calm")], TEXT, ["not found"]),
        ([("he is kind", "he leads"), ("He is kind", "He leads")], TEXT.replace("He is kind", "He leads"),
         ["not found", "applied"]),
        ([("is cold", "leads")], TEXT, ["not found"]),
        ([("", "leads"), (" \n", "leads"), ("warm", ""), ("warm", " \n")], TEXT, ["empty"] * 4),
        ([("warm", "warm"), ("is kind", " is\nkind"), ("cold", "cold")], TEXT, ["unchanged"] * 3),
        # A phrase is no pattern, and a replacement no template.
        ([("w.rm", "bold"), ("warm.", "\\1 \\g<0> {0}.")], TEXT.replace("warm.", "\\1 \\g<0> {0}.", 1),
         ["not found", "applied"]),
    ],
)  # fmt: skip
def test_where_edits_go(edits, text, outcomes):
    assert edited(TEXT, [Edit(*edit) for edit in edits]) == (text, outcomes)


def test_no_edit_hits_what_another_wrote():
    assert edited("kind warm", [Edit("kind", "warm"), Edit("warm", "kind")])[0] == "warm kind"


def test_places_may_overlap_each_other():
    """The second edit fits at 8, though its first place, at 0, reaches over that."""
    placed = place_edits("one two one two one", [Edit("one two", "a"), Edit("one two one", "b")])
    assert [(each.start, each.end) for each in placed] == [(0, 7), (8, 19)]


def test_emphasis_is_no_part_of_a_word():
    assert edited("She is _kind_.", [Edit("kind", "bold")])[0] == "She is _bold_."


@st.composite
def texts_and_edits(draw):
    """Lower-case texts; originals are often pieces of them, and what is written in their place is upper-case."""
    text = draw(st.text("ab .\n", max_size=40))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    piece = places.map(lambda ends: text[min(ends) : max(ends)]) | st.text("ab \n", max_size=4)
    return text, draw(st.lists(st.builds(Edit, piece, st.text("XY ", max_size=4)), max_size=6))


@given(drawn=texts_and_edits())
def test_outside_the_edits_a_text_stays_byte_for_byte(drawn):
    text, edits = drawn
    placed = place_edits(text, edits)
    assert [each.edit for each in placed] == edits
    going = sorted((each.start, each.end, each.edit) for each in placed if each.outcome == "applied")
    for start, end, edit in going:
        assert text[start:end].split() == edit.original.split()
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(going))
    rest = replace_placed(text, placed)
    for start, end, edit in going:  # what is before each place is the text's own again
        assert rest[start:].startswith(edit.edited.strip())
        rest = rest[:start] + text[start:end] + rest[start + len(edit.edited.strip()) :]
    assert rest == text


@given(drawn=texts_and_edits(), seed=st.integers())
def test_edits_one_after_another_in_any_order_give_the_same(drawn, seed):
    text, edits = drawn
    whole = replace_placed(text, place_edits(text, edits))
    placed = [each for each in place_edits(text, edits) if each.outcome == "applied"]
    random.Random(seed).shuffle(placed)
    changed, done = text, []
    for each in placed:
        shift = sum(grown for start, grown in done if start < each.start)
        written = each.edit.edited.strip()
        changed = changed[: each.start + shift] + written + changed[each.end + shift :]
        done.append((each.start, len(written) - (each.end - each.start)))
    assert changed == whole == replace_placed(text, placed)


SENTENCE = "She is kind to all."


@pytest.mark.parametrize(
    ("reply", "rewritten"),
    [
        ("She leads them all.", "She leads them all."),
        ("She leads them all", "She leads them all."),
        (' "She leads them all."\n', "She leads them all."),
        ("“She leads them all.”", "She leads them all."),
        ("Rewritten: She leads them all.", "She leads them all."),
        ("Sure! Here's the rewritten sentence:\n\n**She leads them all.**", "She leads them all."),
        ("**Rewritten sentence:** She leads them all.", "She leads them all."),
        ("- She leads them all.", "She leads them all."),
        ("She leads\nthem all!", "She leads them all!"),
        ('She is called "leader"', 'She is called "leader"'),
        ("x" * 56 + ".", "x" * 56 + "."),
        ("x" * 57 + ".", None),
        ("x" * 57, None),
        ("She leads. They follow.", None),
        ("She leads.\n\nI made it more agentic.", None),
        ("", None),
        ('"..."', None),
        ("Rewritten:", None),
    ],
)
def test_a_rewritten_sentence_is_one_sentence(reply, rewritten):
    assert parse_rewrite(reply, SENTENCE) == rewritten


def test_quotes_of_the_sentence_stay():
    assert parse_rewrite('"She leads."', '"She is kind."') == '"She leads."'
