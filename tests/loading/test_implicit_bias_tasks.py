"""Laws of implicit_bias's tasks: that words and status tell a task's stereotype no better than its content must."""

import json
import math
import re
from collections import Counter

import pytest

from evenhand.library import DATASETS

FOLDER = DATASETS / "implicit_bias"
KINDS = ("male", "female")
STATUSES = ("decides", "supports", "menial")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

# Words that colour a task or how it is done, of either stereotype.
COLOURING = WORD.findall(
    "aggressive attractive beautiful beautifully bold boldly brave bravely calming caring charming cheerful "
    "cheerfully clever combative comforting considerate cosy courageous courteous courteously cozy cute dainty "
    "daring decisive delicate delightful diligent elegant fearless festive fierce fiercely firm firmly fresh "
    "friendly gentle gently graceful gracious handsome hard harsh heartfelt heavy heroic homely homey hospitable "
    "hostile inviting kind kindly lively lovely loving merry modest neat neatly nice nicely patiently perfect "
    "pleasant polite politely powerful pretty quiet quietly rough rugged ruthless sensitive sharp smart soft "
    "softly soothing splendid strong stubborn stylish sweet sweetly sympathetic tactful tactfully tasteful tender "
    "tenderly thoughtful tidy tireless tough understanding warm warmly welcoming wonderful"
)

# Words that stand in sentences on anything, and so are no content.
FUNCTION = WORD.findall(
    "a about above across after against all along and another any are around as at back be been before behind "
    "below beside between but by can do does down each enough every everybody everyone everything for from had "
    "has have how if in into is it its may might more most must near no nobody not of off on one only onto or "
    "other out over own round should so some than that the their them these they this those through to under "
    "until up was were what when where whether which while who whom whose why will with without would"
)


@pytest.fixture(scope="module")
def scenarios():
    """{id: [(task, stereotype, status), …]} of the 143 scenarios."""
    found = {}
    for path in sorted((FOLDER / "sources").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "tasks" in entry:  # other sources hold what is told of them
                found[entry["id"]] = [(each["task"], each["stereotype"], each["status"]) for each in entry["tasks"]]
    assert len(found) == 143
    return found


@pytest.fixture(scope="module")
def card():
    return " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())


def words(text):
    return set(WORD.findall(text.casefold()))


def told_by_words(scenarios, of=None):
    """The part of tasks whose stereotype naive Bayes tells by which words stand in them, learnt from the scenarios but
    the task's own. of: the words that it sees; all by default.
    """

    def seen(text):
        return words(text) if of is None else words(text).intersection(of)

    having = {kind: Counter() for kind in KINDS}
    tasks = Counter()
    for of_one in scenarios.values():
        for task, kind, _ in of_one:
            having[kind].update(seen(task))
            tasks[kind] += 1
    right = 0
    for of_one in scenarios.values():
        own, own_tasks = {kind: Counter() for kind in KINDS}, Counter()
        for task, kind, _ in of_one:
            own[kind].update(seen(task))
            own_tasks[kind] += 1
        for task, kind, _ in of_one:
            odds = 0.0
            for word in seen(task):
                male, female = (
                    (having[each][word] - own[each][word] + 0.5) / (tasks[each] - own_tasks[each] + 1) for each in KINDS
                )
                odds += math.log(male / female)
            right += (odds > 0) == (kind == "male")
    return right / tasks.total()


def test_words_tell_a_tasks_stereotype_by_content_alone(scenarios, card):
    """Words without content tell hardly more than a coin; all words less than the 96.5 % of version 1. Card: both."""
    everything, function = told_by_words(scenarios), told_by_words(scenarios, FUNCTION)
    assert everything < 0.9
    assert function < 0.6
    assert f"{everything:.1%}".replace("%", " %") in card
    assert f"{function:.1%}".replace("%", " %") in card


def test_no_colouring_word(scenarios):
    """Nothing in a task colours it: on neither side."""
    for row_id, tasks in scenarios.items():
        for task, _, _ in tasks:
            assert not words(task).intersection(COLOURING), (row_id, task)


def test_status_is_independent_of_stereotype(scenarios, card):
    """Each status stands in 70 tasks or more of either stereotype; chi square has p > 0.2. The card has the table."""
    table = Counter((kind, status) for tasks in scenarios.values() for _, kind, status in tasks)
    assert set(table) == {(kind, status) for kind in KINDS for status in STATUSES}
    assert min(table.values()) >= 70
    n = table.total()
    chi_square = 0.0
    for kind in KINDS:
        for status in STATUSES:
            expected = sum(table[kind, each] for each in STATUSES) * sum(table[each, status] for each in KINDS) / n
            chi_square += (table[kind, status] - expected) ** 2 / expected
    assert math.exp(-chi_square / 2) > 0.2  # two degrees of freedom
    assert f"chi² = {chi_square:.2f}" in card
    for kind in KINDS:
        assert " | ".join(["", kind, *(str(table[kind, status]) for status in STATUSES), ""]).strip() in card


def test_either_side_decides_as_often_within_a_scenario(scenarios):
    """Of the scenarios in which the tasks of one stereotype alone decide, 45 to 55 % have it male."""
    alone = Counter()
    for tasks in scenarios.values():
        deciding = {kind for _, kind, status in tasks if status == "decides"}
        if len(deciding) == 1:
            alone[deciding.pop()] += 1
    assert 0.45 <= alone["male"] / alone.total() <= 0.55


def test_no_cast_is_called_a_family(scenarios):
    """The characters' names are drawn from many cultures, so those who share the tasks are friends and neighbours."""
    path = FOLDER / "sources" / "family.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        assert not re.search(r"\b(?:relatives?|cousins?|grandchild\w*|siblings?)\b", entry["scenario"]), entry["id"]
        assert re.search(r"\b(?:friends|neighbours|lodgers|people from the street|households)\b", entry["scenario"])
