"""A group of token sequences as a tree: every distinct prefix is one node, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Tokens = tuple[int, ...]
LogProbs = tuple[float, ...]  # of an answer's tokens, in nats

SMALLEST, LARGEST = 0.4, 1.3  # sizes of trees, as shares of the one asked for


@dataclass(frozen=True)
class Continuation:
    """An answer after a prompt, as tokens. What the model reads is all but the answer's last token."""

    prompt: Tokens
    answer: Tokens

    @property
    def read(self) -> Tokens:
        return self.prompt + self.answer[:-1]

    @property
    def steps(self) -> list[tuple[Tokens, int]]:
        """What is read before each token of the answer, and that token."""
        whole = self.prompt + self.answer
        return [(whole[:place], whole[place]) for place in range(len(self.prompt), len(whole))]


@dataclass(frozen=True)
class PrefixTree:
    """Nodes of some continuations after a kept prefix, in an order in which parents come first.

    continuations: what it was grown from, in order. tokens, depths (absolute positions): (nodes,).
    sees: (nodes, nodes), whether a node sees another: itself and its ancestors.
    answers: for each continuation, the node after which each token of its answer is read.
    """

    continuations: Sequence[Continuation]
    tokens: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int64]
    sees: npt.NDArray[np.bool_]
    answers: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.tokens)


def grow(continuations: Sequence[Continuation], kept: int) -> PrefixTree:
    """The tree of continuations, sorted by what is read, that share their first `kept` tokens.

    `kept` is less than the length of every prompt: what an answer is read after lies in the tree.
    """
    tokens: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    answers: list[tuple[int, ...]] = []
    path: list[int] = []  # nodes of the continuation before, by depth after the kept prefix
    before: Tokens = ()
    for continuation in continuations:
        read = continuation.read[kept:]
        del path[shared_length(before, read) :]
        for token in read[len(path) :]:
            parents.append(path[-1] if path else -1)
            depths.append(kept + len(path))
            path.append(len(tokens))
            tokens.append(token)
        answers.append(tuple(path[len(continuation.prompt) - 1 - kept :]))
        before = read
    sees = np.eye(len(tokens), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            sees[node] |= sees[parent]
    return PrefixTree(
        continuations, np.array(tokens, dtype=np.int64), np.array(depths, dtype=np.int64), sees, tuple(answers)
    )


def shared_length(first: Tokens, second: Tokens) -> int:
    """How many tokens two sequences share from their beginning."""
    for i, (one, other) in enumerate(zip(first, second)):
        if one != other:
            return i
    return min(len(first), len(second))


def common_prefix(continuations: Sequence[Continuation]) -> Tokens:
    """What continuations, sorted by what is read, share, short of the last token of the shortest prompt."""
    first, last = continuations[0].read, continuations[-1].read
    shortest = min(len(continuation.prompt) for continuation in continuations)
    return first[: min(shared_length(first, last), shortest - 1)]


def distinct_tokens(continuations: Sequence[Continuation]) -> int:
    """Nodes of the one tree of all continuations: what has to be computed at least."""
    reads = sorted({continuation.read for continuation in continuations})
    return sum(len(read) - shared_length(before, read) for before, read in zip([(), *reads], reads))


def wanted_after(continuations: Iterable[Continuation]) -> dict[Tokens, list[int]]:
    """Of each distinct prefix at which answers begin or go on the tokens that come next, each once."""
    after: dict[Tokens, dict[int, None]] = {}
    for each in continuations:
        for prefix, token in each.steps:
            after.setdefault(prefix, {})[token] = None
    return {prefix: list(tokens) for prefix, tokens in after.items()}


class Forks:
    """Where sorted continuations part from each other: how much they share, and the branches below that."""

    def __init__(self, continuations: Sequence[Continuation], parting: Sequence[int] | None = None):
        """parting: how much each shares with the one before it (0 for the first); found where not given."""
        self.continuations = continuations
        reads = [continuation.read for continuation in continuations]
        self._parting = [0, *map(shared_length, reads, reads[1:])] if parting is None else parting

    def __len__(self) -> int:
        return len(self.continuations)

    @property
    def prefix(self) -> Tokens:
        return common_prefix(self.continuations)

    def nodes(self, kept: int) -> int:
        """Of their tree after `kept` tokens."""
        lengths = (len(continuation.read) for continuation in self.continuations)
        return sum(length - max(kept, parting) for length, parting in zip(lengths, [kept, *self._parting[1:]]))

    @property
    def alone(self) -> Iterator[tuple[int, int]]:
        """Of each prompt: how much of it others begin with, and its length."""
        start = 0
        for i, (continuation, parting) in enumerate(zip(self.continuations, [*self._parting[1:], 0]), 1):
            if parting < len(continuation.prompt):
                yield max(self._parting[start], parting), len(continuation.prompt)
                start = i

    def branches(self) -> Iterator[Forks]:
        """The runs of neighbors that share more with each other than all share."""
        least = min(self._parting[1:], default=0)
        cuts = [0, *(i for i in range(1, len(self)) if self._parting[i] == least), len(self)]
        for start, end in pairwise(cuts):
            yield Forks(self.continuations[start:end], [0, *self._parting[start + 1 : end]])


def split_by_size(
    continuations: Sequence[Continuation], kept: int, most_nodes: int
) -> Iterator[Sequence[Continuation]]:
    """Runs of sorted continuations whose trees after the kept prefix have about `most_nodes` nodes, cut with care.

    What neighbors share beyond the kept prefix is computed in both trees where a cut parts them: of the cuts that leave
    a tree of about that size, the one that parts least is taken, the latest of several. A single continuation may have
    more nodes.
    """
    reads = [continuation.read for continuation in continuations]
    shares = [0, *map(shared_length, reads, reads[1:])]
    start = 0
    while start < len(reads):
        nodes, cut = 0, start
        for i in range(start, len(reads)):
            new = len(reads[i]) - (kept if i == start else max(kept, shares[i]))
            if i > start:
                if nodes >= SMALLEST * most_nodes and (cut == start or shares[i] <= max(kept, shares[cut])):
                    cut = i
                if nodes + new > LARGEST * most_nodes:
                    cut = cut if cut > start else i
                    break
            nodes += new
        else:
            cut = len(reads)
        yield continuations[start:cut]
        start = cut
