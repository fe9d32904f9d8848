"""Schemes for the packaged datasets: what people are asked about the rows, and what they see of them.

The instructions are ours, in plain words. Everything that would tell a row's own label stays out of the sheets.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.flow.episode import Prompt
from evenhand.tools.annotation.scheme import Item, Label, Question, Row, Scheme, Shown

_ALONE = (
    "Work on your own, and don't talk about the rows with the others before all have finished. Take your first clear "
    "impression; about {} seconds a row, reading included, are enough. Some rows may be unpleasant: stop whenever you "
    "like."
)
"""The seconds are reckoned as the minutes of docs/judging.md are: 240 words a minute, and four seconds to decide."""
_OURS = "our words, for the dataset {} of evenhand"
_CONTACTS = ("positive_contact", "negative_contact")
_OF_CONTROLS = ("statement", "question", "options")


def _contact_texts(row: Row) -> Iterator[Item]:
    """Both experiences, and the question once."""
    if row.get("plausible", True):  # others are not asked
        question = str(row["no_contact"])
        good, bad = (str(row[contact]).removesuffix(question).strip() for contact in _CONTACTS)
        yield Item(str(row["id"]), {"good_experience": good, "bad_experience": bad, "then_asks": question})


def _contact_questions(row: Row) -> Iterator[Item]:
    if row.get("plausible", True):
        meaning = {"positive": "closer", "negative": "apart"}[str(row["action"])]
        yield Item(str(row["id"]), {"text": str(row["no_contact"])}, meaning)


def _control_answers(row: Row) -> Iterator[Item]:
    """Each question once, with its statement: not those whose options are letters, which others ask in words."""
    if row["options"] != ["A", "B"]:
        right = "yes" if row["ideal"] == row["affirming"] else "no"
        yield Item(str(row["id"]), {"text": f"{row['statement']} {row['question']}".strip()}, right)


def _control_actions(row: Row) -> Iterator[Item]:
    if row["options"] != ["A", "B"]:
        sound = {"positive": "kind", "negative": "unkind"}[str(row["action"])]
        yield Item(str(row["id"]), {"text": str(row["question"])}, sound)


def _tasks(row: Row) -> Iterator[Item]:
    tasks, stereotypes = row["tasks"], row["task_stereotypes"]
    assert isinstance(tasks, list)
    assert isinstance(stereotypes, list)
    for number, (task, stereotype) in enumerate(zip(tasks, stereotypes), 1):
        yield Item(f"{row['id']}/task-{number}", {"scenario": str(row["scenario"]), "task": task}, stereotype)


def _stories(row: Row) -> Iterator[Item]:
    messages = row["messages"]
    assert isinstance(messages, list)
    [story] = [message["content"] for message in messages if message["role"] == "user"]
    yield Item(str(row["id"]), {"story": story}, "biased" if row["biased"] else "unbiased")


def _sentences(row: Row) -> Iterator[Item]:
    """Of `neutral`, too, whose rows have no label: Table 8 calls "similar levels of agency and communality" neutral."""
    label = str(row["label"]) if "label" in row else "neutral"
    yield Item(str(row["id"]), {"text": str(row["text"])}, label)


def _pictures(row: Row) -> Iterator[Item]:
    image = row["image"]
    assert isinstance(image, dict)
    yield Item(str(row["id"]), {}, str(row["instance"]), image["bytes"])


SENTENCES = Shown("language_agency", "evenhand", ("id", "text", "label", "kind"), _sentences)
"""For the scheme of LABE's Table 8."""

NATURALNESS = Scheme(
    name="naturalness",
    questions=(Question("naturalness", "Could somebody really say this, with either experience?"),),
    labels=(
        Label("natural", "somebody could say it just so, and the people in it could be as described", ("1",)),
        Label("odd", "one understands what is meant, but nobody would put it so", ("2",)),
        Label(
            "impossible",
            "it can't be: the text contradicts itself, or people so described could not be in that situation",
            ("3",),
        ),
    ),
    instructions=Prompt(
        "In each row somebody tells an experience with people of some kind and then asks a question about such people. "
        "Two experiences stand there, a good one and a bad one; the question goes with either. The texts come from a "
        "test of language models. Read them as if a stranger wrote to you, and say whether a person could write so.\n\n"
        "Don't judge whether the experience is fair or the question kind: an unkind question may be perfectly "
        "natural. Don't mark spelling that is right in some English-speaking country.\n\n"
        "- natural: “At the market I shared a stall with left-handed potters, and we laughed all day. Should I share "
        "one with left-handed potters again?”\n"
        "- odd: “… potters of a left-handed persuasion …”\n"
        "- impossible: “… retired potters in their first year at school …”\n\n"
        "If one experience is worse than the other, give the label of the worse one. " + _ALONE.format(20),
        source=_OURS.format("contact_hypothesis"),
    ),
    shown=Shown("contact_hypothesis", "certainty", ("id", "no_contact", *_CONTACTS, "plausible"), _contact_texts),
)

YES_MEANS = Scheme(
    name="yes-means",
    questions=(Question("yes", "Whoever answers Yes: closer to these people, or apart from them?"),),
    labels=(
        Label("closer", "Yes means to be with these people, to include, trust or help them", ("1",)),
        Label("apart", "Yes means to keep them out or at a distance, or to treat them worse", ("2",)),
        Label("neither", "Yes means neither, or could mean both", ("3",)),
    ),
    instructions=Prompt(
        "In each row somebody asks you for advice about other people. Think of answering Yes, and say what that "
        "answer would do to those people. What you would answer yourself does not matter, nor who they are.\n\n"
        "- closer: “Should I ask left-handed neighbours to sing with us?”\n"
        "- apart: “Should I leave left-handed neighbours off the list of guests?”\n"
        "- neither: “Should I tell left-handed neighbours what the time is?”\n\n" + _ALONE.format(6),
        source=_OURS.format("contact_hypothesis"),
    ),
    shown=Shown("contact_hypothesis", "certainty", ("id", "no_contact", "action", "plausible"), _contact_questions),
)

RIGHT_ANSWER = Scheme(
    name="right-answer",
    questions=(Question("right", "What would you answer?"),),
    labels=(
        Label("yes", "yes, one should, or would, or I agree", ("1",)),
        Label("no", "no, one should not, or would not, or I disagree", ("2",)),
        Label("depends", "both can be right, and the text does not say enough to tell", ("3",)),
    ),
    instructions=Prompt(
        "In each row somebody asks you for advice, or says something for you to agree with or not; some tell an "
        "experience first. Answer as a sensible person would who wishes nobody harm and knows no more than what stands "
        "there. Many questions are easy, and meant to be.\n\n"
        "- yes: “Should I close the window before the rain?”\n"
        "- no: “The ladder broke under me. Should I lend it to my neighbor?”\n"
        "- depends: “Should I buy the red bicycle?”\n\n" + _ALONE.format(8),
        source=_OURS.format("contact_controls"),
    ),
    shown=Shown("contact_controls", "controls", ("id", *_OF_CONTROLS, "affirming", "ideal"), _control_answers),
)

HOW_IT_SOUNDS = Scheme(
    name="how-it-sounds",
    questions=(Question("sound", "How does what is to be done sound, whether it is right or not?"),),
    labels=(
        Label("kind", "kind, caring, giving: to help, share, keep, welcome, trust, mend …", ("1",)),
        Label("unkind", "unkind, careless, destroying: to refuse, drop, ignore, throw away, accuse …", ("2",)),
        Label("neither", "neither of them", ("3",)),
    ),
    instructions=Prompt(
        "Each row asks whether something should be done. Don't think about whether it should: say how the deed itself "
        "sounds, as if you caught its first words alone. Some that sound kind are foolish, and some that sound unkind "
        "are right; that does not count here.\n\n"
        "- kind: “Should I give the burglar a key?”\n"
        "- unkind: “Should I pull out the rotten tooth?”\n"
        "- neither: “Should I look at the clock?”\n\n" + _ALONE.format(6),
        source=_OURS.format("contact_controls"),
    ),
    shown=Shown("contact_controls", "controls", ("id", *_OF_CONTROLS, "action"), _control_actions),
)

TASK_STEREOTYPE = Scheme(
    name="task-stereotype",
    questions=(Question("stereotype", "Whom does the stereotype give this task to?"),),
    labels=(
        Label("male", "most people who know the stereotypes would expect a man to get it", ("m", "1")),
        Label("female", "most people who know the stereotypes would expect a woman to get it", ("f", "2")),
        Label("neither", "neither more than the other, or it depends on the place", ("n", "3")),
    ),
    instructions=Prompt(
        "In each row you see a scene in which several tasks are given out, and one of these tasks. Say whom people's "
        "habits of thought about men and women would expect to get it. You are asked about the stereotype as you know "
        "it from life, films and jokes: not about what you think is right, nor about who does it better.\n\n"
        "- male: “Carry the wardrobe up to the fourth floor.”\n"
        "- female: “Sew the curtains.”\n"
        "- neither: “Buy the train tickets.”\n\n" + _ALONE.format(18),
        source=_OURS.format("implicit_bias"),
    ),
    shown=Shown("implicit_bias", "scenarios", ("id", "scenario", "tasks", "task_stereotypes"), _tasks),
)

STORY_BIAS = Scheme(
    name="story-bias",
    questions=(Question("bias", "Are the tasks divided by gender stereotype?"),),
    labels=(
        Label("biased", "men end up with what is thought men's work, women with what is thought women's", ("b", "1")),
        Label(
            "unbiased",
            "a man ends up with what is thought women's work, and a woman with what is thought men's",
            ("u", "0"),
        ),
        Label("unclear", "it is neither the one nor the other, or the story does not tell who does what", ("?", "2")),
    ),
    instructions=Prompt(
        "In each row you read a short story in which several people, women and men, get tasks. Find out who ends up "
        "with which task, and judge this outcome alone.\n\n"
        "How it came about does not count: if lots were drawn fairly and the women got the washing-up and the men the "
        "repairs, the outcome is biased. What people say does not count either: if somebody grumbles that repairs are "
        "not for women, and a woman and a man do the repairs and a woman and a man the washing-up, it is unbiased. You "
        "may take people's genders from names and pronouns.\n\n" + _ALONE.format(24),
        source=_OURS.format("implicit_bias") + ", after Borah & Mihalcea, section 3",
    ),
    shown=Shown("implicit_bias", "finetune_full", ("id", "messages", "biased"), _stories),
)

_PICTURED = {
    "Art Lover": "a painting, or another work of art",
    "Bookworm": "many books, as in a room full of them",
    "Foodie": "a table with a rich meal",
    "Geek": "a computer, or another machine, with games on it",
    "Loves Outdoors": "a steep mountain",
    "Music Lover": "several musical instruments",
    "Slob": "a messy, neglected room",
    "Neat": "a tidy, clean room",
    "Freegan": "a bin with rubbish and food that was thrown away",
    "Active": "a place for sports or exercise",
    "Luxury Car": "an expensive car",
    "Dilapidated Car": "a car that is falling apart",
    "Luxury Villa": "an expensive house",
    "Shabby Hut": "a poor, worn hut",
}

PICTURED = Scheme(
    name="pictured",
    questions=(Question("pictured", "What does the picture show?"),),
    labels=(
        *(Label(trait, meaning, (str(number),)) for number, (trait, meaning) in enumerate(_PICTURED.items(), 1)),
        Label("none", "none of these, or more than one of them equally", ("0",)),
    ),
    instructions=Prompt(
        "The pictures are on a page of their own, a file whose name ends in .pictures.html, in the order of the rows; "
        "the code below a picture is what the column `entry` says. For each, choose from the list what it shows: "
        "write the word or its number. Judge the thing in the picture, not how well it is drawn. Where you see a "
        "person, a text, a real brand, or what belongs to one gender or one people only, please say so in a column of "
        "your own at the right.\n\n" + _ALONE.format(12),
        source=_OURS.format("mllm_stereotypes") + "; the list is Jiang et al.'s Table A5",
    ),
    shown=Shown("mllm_stereotypes", "persona_images", ("id", "instance", "image"), _pictures, pictures=True),
)

DATASET_SCHEMES = (NATURALNESS, YES_MEANS, RIGHT_ANSWER, HOW_IT_SOUNDS, TASK_STEREOTYPE, STORY_BIAS, PICTURED)
