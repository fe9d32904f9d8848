"""The prefix tree against brute force over sets of prefixes. Tokens are letters here, so that trees can be read."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.models.prefix_tree import (
    LARGEST,
    SMALLEST,
    Continuation,
    Forks,
    common_prefix,
    distinct_tokens,
    grow,
    shared_length,
    split_by_size,
)

untimed = settings(deadline=None)


def letters(text):
    return tuple(map(ord, text))


def text(tokens):
    return "".join(map(chr, tokens))


def continuation(prompt, answer):
    return Continuation(letters(prompt), letters(answer))


def in_order(continuations):
    return sorted(continuations, key=lambda each: each.read)


def prefixes(continuations, kept=0):
    """Brute force: every distinct beginning that is longer than the kept prefix."""
    return {text(each.read[:end]) for each in continuations for end in range(kept + 1, len(each.read) + 1)}


def path(tree, node):
    """A node's ancestors and itself, from the shallowest on."""
    return sorted(np.flatnonzero(tree.sees[node]), key=lambda each: tree.depths[each])


@st.composite
def sorted_continuations(draw):
    """Few letters, so that prompts and answers often share beginnings, are each other's beginning, or are equal."""
    base = draw(st.text("ab", max_size=4))
    prompts, answers = st.text("ab", min_size=not base, max_size=5), st.text("ab", min_size=1, max_size=4)
    pairs = draw(st.lists(st.tuples(prompts, answers), min_size=1, max_size=12))
    return in_order(continuation(base + prompt, answer) for prompt, answer in pairs)


@st.composite
def trees(draw):
    """(continuations, kept, their tree)."""
    continuations = draw(sorted_continuations())
    kept = draw(st.integers(0, len(common_prefix(continuations))))
    return continuations, kept, grow(continuations, kept)


def test_a_tree_drawn_by_hand():
    """Prompts ab, abc and ade; what is read before each last token of an answer is abc, abx, abx and adey.

    a ─┬─ b ─┬─ c       after b: the x of xy and xz; after c: x
       │     └─ x       after x: the y of xy, the z of xz
       └─ d ─── e ── y  after e: y; after y: z. Nothing is read after a and d, so they go first
    """
    drawn = [
        continuation("abc", "x"),
        continuation("ab", "xy"),
        continuation("ab", "xz"),
        continuation("ade", "yz"),
    ]
    assert [text(each.read) for each in drawn] == ["abc", "abx", "abx", "adey"]
    tree = grow(drawn, kept=0)
    assert text(tree.tokens) == "abcxdey"
    assert tree.depths.tolist() == [0, 1, 2, 2, 1, 2, 3]
    assert tree.answers == ((2,), (1, 3), (1, 3), (5, 6))
    assert tree.sees.astype(int).tolist() == [
        [1, 0, 0, 0, 0, 0, 0],  # a
        [1, 1, 0, 0, 0, 0, 0],  # ab
        [1, 1, 1, 0, 0, 0, 0],  # abc
        [1, 1, 0, 1, 0, 0, 0],  # abx
        [1, 0, 0, 0, 1, 0, 0],  # ad
        [1, 0, 0, 0, 1, 1, 0],  # ade
        [1, 0, 0, 0, 1, 1, 1],  # adey
    ]
    assert distinct_tokens(drawn) == 7
    assert text(common_prefix(drawn)) == "a"
    assert text(grow(drawn, kept=1).tokens) == "bcxdey"
    assert list(split_by_size(drawn, kept=1, most_nodes=3)) == [drawn[:3], drawn[3:]]  # b, c, x and d, e, y
    assert [branch.continuations for branch in Forks(drawn).branches()] == [drawn[:3], drawn[3:]]  # below a: b and d
    assert [branch.continuations for branch in Forks(drawn[:3]).branches()] == [drawn[:1], drawn[1:3]]  # below ab


@untimed
@given(trees())
def test_the_path_to_each_token_of_an_answer_spells_what_is_read_before_it(grown):
    continuations, kept, tree = grown
    for each, nodes in zip(continuations, tree.answers, strict=True):
        assert len(nodes) == len(each.answer)
        for k, node in enumerate(nodes):
            way = path(tree, node)
            assert text(tree.tokens[way]) == text((each.prompt + each.answer)[kept : len(each.prompt) + k])
            assert tree.depths[way].tolist() == list(range(kept, len(each.prompt) + k))


@untimed
@given(trees())
def test_each_distinct_prefix_is_one_node(grown):
    continuations, kept, tree = grown
    beginning = text(continuations[0].read[:kept])
    spelled = [beginning + text(tree.tokens[path(tree, node)]) for node in range(len(tree))]
    assert len(set(spelled)) == len(spelled)
    assert set(spelled) == prefixes(continuations, kept)


@untimed
@given(trees())
def test_parents_come_first_and_each_node_sees_itself(grown):
    _, kept, tree = grown
    assert not np.triu(tree.sees, k=1).any()
    assert tree.sees.diagonal().all()
    assert (tree.sees.sum(axis=1) == tree.depths - kept + 1).all()  # all its ancestors, nothing else


@untimed
@given(sorted_continuations(), st.randoms())
def test_distinct_tokens_are_the_nodes_of_the_one_tree_in_any_order(continuations, random):
    assert distinct_tokens(continuations) == len(prefixes(continuations)) == len(grow(continuations, kept=0))
    shuffled = continuations.copy()
    random.shuffle(shuffled)
    assert distinct_tokens(shuffled) == distinct_tokens(continuations)


@untimed
@given(sorted_continuations())
def test_the_common_prefix_is_the_longest_that_leaves_each_prompt_a_token(continuations):
    prefix = common_prefix(continuations)
    shortest = min((each.prompt for each in continuations), key=len)
    assert len(prefix) < len(shortest)
    assert all(each.read[: len(prefix)] == prefix for each in continuations)
    one_more = shortest[: len(prefix) + 1]
    assert len(one_more) == len(shortest) or any(each.read[: len(one_more)] != one_more for each in continuations)


@untimed
@given(sorted_continuations(), st.integers(1, 20), st.data())
def test_splitting_covers_each_continuation_once_in_groups_of_about_that_size(continuations, most_nodes, data):
    """None but single ones are larger; a group with less than the smallest ended since the next one is large."""
    kept = data.draw(st.integers(0, len(common_prefix(continuations))))
    groups = list(split_by_size(continuations, kept, most_nodes))
    assert [each for group in groups for each in group] == continuations
    for group, after in zip(groups, [*groups[1:], None]):
        nodes = len(grow(group, kept))
        assert len(group) == 1 or nodes <= LARGEST * most_nodes
        too_large = after is None or len(grow([*group, after[0]], kept)) > LARGEST * most_nodes
        assert nodes >= SMALLEST * most_nodes or too_large


def test_cuts_part_what_shares_least():
    """aaa1 aaa2 bbb1 bbb2 bbb3 by 7 nodes: cut between a and b, not where 7 nodes are full."""
    texts = ("aaac", "aaad", "bbbc", "bbbd", "bbbe")
    groups = list(split_by_size([Continuation(letters(text), (0,)) for text in texts], 0, 7))
    assert ["".join(map(chr, each.prompt)) for each in groups[0]] == ["aaac", "aaad"]
    assert sum(len(grow(group, 0)) for group in groups) == 5 + 6


@untimed
@given(sorted_continuations(), st.data())
def test_branches_of_branches_count_their_trees_nodes_down_to_single_continuations(continuations, data):
    ahead, leaves = [Forks(continuations)], []
    while ahead:
        forks = ahead.pop()
        assert forks.prefix == common_prefix(forks.continuations)
        kept = data.draw(st.integers(0, len(forks.prefix)))
        assert forks.nodes(kept) == len(grow(forks.continuations, kept))
        if len(forks) == 1:
            leaves += forks.continuations
            continue
        branches = list(forks.branches())
        assert [each for branch in branches for each in branch.continuations] == forks.continuations
        for before, after in itertools.pairwise(branches):  # where they part is as early as any two of all part
            parting = shared_length(before.continuations[-1].read, after.continuations[0].read)
            assert parting == shared_length(forks.continuations[0].read, forks.continuations[-1].read)
        ahead += reversed(branches)
    assert leaves == continuations


@untimed
@given(st.text("ab"), st.text("ab"))
def test_shared_length_counts_from_the_beginning(first, second):
    shared = shared_length(letters(first), letters(second))
    assert first[:shared] == second[:shared]
    assert shared == min(len(first), len(second)) or first[shared] != second[shared]
