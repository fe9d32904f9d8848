"""Choices put together from what an engine says of single tokens."""

import itertools
import math

import pytest

from evenhand.models.choices_by_prefix import ChoicesByPrefix
from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation

PROMPT, OTHER = (1, 2, 3), (1, 2, 4)
READ = {
    0: ((), [Continuation(PROMPT, (5,)), Continuation(PROMPT, (5, 6)), Continuation(PROMPT, (7, 6))]),
    3: ((), [Continuation(PROMPT, (5,)), Continuation(OTHER, (8,))]),
    4: (("a picture",), [Continuation(PROMPT, (5,))]),
}


def likely(prefix, token):
    return -(sum(prefix) + token / 10)


@pytest.mark.parametrize("most", [1, 2, 128])
def test_each_prefix_of_each_picture_is_asked_once_and_all_come_together(most):
    choices = ChoicesByPrefix(READ, most)
    asked = [(each.seen, each.prefix, token) for each in choices.questions for token in each.tokens]
    assert len(asked) == len(set(asked)) == 6
    assert all(len(each.tokens) <= most for each in choices.questions)
    if most == 128:
        assert len(choices.questions) == len({(seen, prefix) for seen, prefix, _ in asked}) == 5
    for order in itertools.islice(itertools.permutations(choices.questions), 50):
        choices = ChoicesByPrefix(READ, most)
        found = {}
        for each in order:
            for place, scored in choices.answered(each, {token: likely(each.prefix, token) for token in each.tokens}):
                assert place not in found
                found[place] = scored
        assert found == {
            place: tuple(tuple(likely(*step) for step in each.steps) for each in continuations)
            for place, (_, continuations) in READ.items()
        }


def test_what_is_refused_is_refused_to_all_that_wait_for_it_and_to_no_other():
    choices, found = ChoicesByPrefix(READ, 128), {}
    for each in choices.questions:
        refused = each.prefix == OTHER
        given = Unanswerable("not_understood", "no") if refused else dict.fromkeys(each.tokens, 1e-6)
        found |= dict(choices.answered(each, given))
    assert isinstance(found[3], Unanswerable)
    assert found[0] == ((0.0,), (0.0, 0.0), (0.0, 0.0))  # rounding never makes more than certain
    assert not math.copysign(1, found[4][0][0]) < 0


def test_nothing_is_asked_for_nothing():
    assert ChoicesByPrefix({}, 128).questions == []
