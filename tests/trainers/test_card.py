"""A checkpoint's card says what is known of it, and no more."""

import math
import re

import pytest
import yaml

from evenhand.trainers.card import card, public_name, steps_drawn

RECORD = {
    "trainer": "social-contact",
    "source": "a paper",
    "recipe": {"model": "m", "mix": "/private/file.jsonl", "rank": 64, "measured": 48},
    "data": {"cut": "by scale", "prompt_sets": 10_000, "mixed": None},
    "measured_by": "evenhand run contact_hypothesis --held-out 1",
    "steps": 2,
    "packing": "tree",
    "losses": [2.0, 1.0],
    "measured": [
        {"step": 0, "biased %": 50.0, "perplexity of neutral text": 20.0},
        {"step": 2, "biased %": 10.0, "perplexity of neutral text": 21.0},
    ],
}


def test_a_card_has_its_base_its_rows_and_both_measurements():
    text = card(RECORD, "someone/base", ["adapter_config.json", "steps.svg"])
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["base_model"] == "someone/base"
    assert header["library_name"] == "peft"
    for words in (
        "| biased % | 50.0 | 10.0 |",
        "At most 48 of the held-out rows",
        "prompt sets: 10,000",
        "rank: 64",
        "](steps.svg)",
    ):
        assert words in text
    assert "/private" not in text
    assert "mixed" not in text


def test_a_base_in_a_local_folder_is_no_name_to_load(tmp_path):
    record = {**RECORD, "base": {"model": str(tmp_path / "llama"), "identity": "llama@0123 float32"}}
    text = card(record, public_name(record["base"]["model"]), ["adapter_config.json"])
    assert "An adapter for `llama` (a local folder of whoever trained it)" in text
    assert "from_pretrained(BASE)" in text
    assert "In place of `BASE` put" in text
    assert str(tmp_path) not in text
    assert 'from_pretrained("someone/base")' in card(record, "someone/base", ["adapter_config.json"])


def test_what_a_record_says_is_text_and_nothing_else():
    """A checkpoint of somebody's may say anything; its card is opened by others."""
    hostile = "a\n\n# EVIL\n\n<img src=x onerror=alert(1)> [b](javascript:alert(1)) ![c](https://example.org/x.png)"
    words = {name: f"{name} {hostile}" for name in ("trainer", "source", "measured_by", "packing")} | {
        "note": f"# {hostile}"
    }
    nested = {part: {**RECORD[part], hostile: hostile} for part in ("recipe", "data")}
    measured = [{**each, f"| {hostile} |": 1.0} for each in RECORD["measured"]]
    text = card({**RECORD, **words, **nested, "measured": measured}, f"lab/x`\n{hostile}", ["adapter_config.json"])
    body = text.split("---\n", 2)[2]
    assert not any(line.startswith(("# EVIL", "# a", "![c]")) for line in body.splitlines())
    assert "<img" not in body
    assert "](javascript" not in body
    assert "](https://example.org" not in body
    assert "`lab/x' a # EVIL" in body
    assert yaml.safe_load(text.split("---\n")[1])["library_name"] == "peft"


def test_of_what_was_not_measured_it_says_so():
    text = card({**RECORD, "measured": []}, "base", [])
    assert "nothing is known of its bias or its other answers" in text
    assert "base_model" not in text.split("---\n")[1]
    assert "AutoModelForCausalLM.from_pretrained(FOLDER)" in text


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_what_is_no_number_is_not_told_as_one(unknown):
    judged = {"verdict": "undecided", "sentence": "No answer to a control was read.", "against_ideal": unknown}
    judged["by_sound"] = {"positive": "open", "negative": "open"}
    measured = [RECORD["measured"][0], {"step": 2, "biased %": unknown, "perplexity of neutral text": unknown}]
    text = card({**RECORD, "judged": judged, "measured": measured}, "base", [])
    assert "| biased % | 50.0 | no data |" in text
    assert "No answer to a control was read. Whatever the controls say, a low score" in text
    assert not re.search(r"\b(nan|inf|None)\b", text)
    assert "read. Of its answers to all controls 48.6 % are wrong; of random ones 50. Whatever" in card(
        {**RECORD, "judged": {**judged, "against_ideal": 48.57}}, "base", []
    )


@pytest.mark.parametrize(
    ("judged", "told"),
    [
        (
            {"verdict": "polarity", "by_sound": {"positive": "yes", "negative": "no"}},
            "**This model is not debiased: it follows a polarity: yes to most actions that sound kind and no to most "
            "that sound unkind, where that is right and where it is wrong.**",
        ),
        (
            {"verdict": "one-sided", "by_sound": {"positive": "yes", "negative": "open"}},
            "**This model is not debiased: it is one-sided: yes to most actions that sound kind, where that is right "
            "and where it is wrong.**",
        ),
        (
            {"verdict": "constant", "by_sound": {"positive": "no", "negative": "no"}},
            "**This model is not debiased: it gives most questions one answer, whether or not that is right.**",
        ),
        ({"verdict": "ideal", "by_sound": {"positive": "right", "negative": "right"}}, ""),
        ({"verdict": "undecided", "by_sound": {"positive": "right", "negative": "open"}}, ""),
        ({"verdict": ["polarity"], "by_sound": "x"}, ""),
    ],
)
def test_what_the_controls_found_stands_in_bold_as_compare_says_it(judged, told):
    text = card({**RECORD, "judged": {"sentence": "S.", "against_ideal": 50.0, **judged}}, "base", [])
    assert told in text
    assert ("not debiased" in text) == bool(told)
    assert "S. Of its answers to all controls 50.0 % are wrong" in text


@pytest.mark.drawn
@pytest.mark.parametrize("measured", [RECORD["measured"], []])
def test_steps_are_drawn(measured):
    drawn = steps_drawn({**RECORD, "measured": measured})
    assert drawn.startswith("<svg")
    assert ("held out, %" in drawn) == bool(measured)
