"""Pairs of faces that are alike but for one attribute, drawn group by group (Jiang et al., sections 3.1 and 4)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS, Attribute, Face, Faces
from evenhand.errors import UsageError, unknown_name
from evenhand.flow.episode import derive_seed

LIMIT = 20  # pairs of each age and other attribute, for race of each two races in it, too (section 4)


@dataclass(frozen=True)
class Pair:
    """Two faces in the order in which they were drawn. id: says what they share and who they are, in either order."""

    id: str
    attribute: Attribute
    left: Face
    right: Face

    @property
    def age(self) -> str:
        return self.left.age

    @property
    def shared(self) -> str:
        """The other attribute's group, which both have."""
        return self.left.shared(self.attribute)

    @property
    def groups(self) -> tuple[str, str]:
        """The two groups, left to right."""
        return self.left.group(self.attribute), self.right.group(self.attribute)


def faces_of(pair: str) -> tuple[str, str]:
    """The names of a pair's faces, from its id: of the group that stands first in GROUPS, and of the other."""
    _, _, _, names = pair.split("/", 3)
    one, other = names.split("//")
    return one, other


def face_pairs(faces: Faces, attribute: Attribute, seed: int, limit: int = LIMIT) -> list[Pair]:
    """Up to `limit` pairs of each age and shared attribute, for race of each two races there; by age.

    Of k faces of one group and m of the other, min(limit, k·m) of the k·m pairs are drawn, none twice; a face may be in
    several. Which face is left is drawn, too. Each draw has a seed of its own: faces of other ages or groups don't
    change it, and the pairs of a smaller limit are the first of a larger one's.
    Raises UsageError for an unknown attribute, a limit below 1, and faces of which no two make a pair.
    """
    if attribute not in GROUPS:
        raise unknown_name("attribute", attribute, list(GROUPS))
    if limit < 1:
        raise UsageError(f"a limit of {limit} pairs came; 1 or more is accepted (the paper's is {LIMIT})")
    cells: dict[tuple[str, str], dict[str, list[Face]]] = defaultdict(lambda: defaultdict(list))
    for face in sorted(faces.records, key=lambda face: face.file):
        cells[face.age, face.shared(attribute)][face.group(attribute)].append(face)
    pairs = []
    for age, shared in sorted(cells, key=_by_age):
        of_cell = cells[age, shared]
        for first, second in combinations(GROUPS[attribute], 2):
            key = f"{attribute}/{age}/{shared}"
            rng = random.Random(derive_seed(seed, f"{key}/{first}/{second}", agent="faces"))
            for one, other in _drawn(of_cell[first], of_cell[second], limit, rng):
                # No name inside a folder has two slashes in a row: these part the two without doubt.
                pair_id = f"{key}/{one.file}//{other.file}"
                left, right = (one, other) if rng.random() < 0.5 else (other, one)
                pairs.append(Pair(pair_id, attribute, left, right))
    if not pairs:
        raise _no_pair(faces, attribute)
    return pairs


def _by_age(cell: tuple[str, str]) -> tuple[int, str, str]:
    age, shared = cell
    return int(age.split("-")[0]), age, shared


def _drawn(ones: Sequence[Face], others: Sequence[Face], limit: int, rng: random.Random) -> Iterator[tuple[Face, Face]]:
    """The first of a shuffle of all combinations that is never written out: some ages have 100,000s of them.

    Only rng.random() is used, whose numbers Python promises to keep from version to version.
    """
    n = len(ones) * len(others)
    moved: dict[int, int] = {}  # what the shuffle has put in another's place so far
    for place in range(min(limit, n)):
        chosen = place + int(rng.random() * (n - place))
        combination = moved.get(chosen, chosen)
        moved[chosen] = moved.get(place, place)
        one, other = divmod(combination, len(others))
        yield ones[one], others[other]


def _no_pair(faces: Faces, attribute: Attribute) -> UsageError:
    n = len(faces.records)
    if not n:
        return UsageError("no face came; give a folder of faces, or a table of them")
    shared = "age and race" if attribute == "gender" else "age and gender"
    needed = f"a pair for {attribute} takes two faces of the same {shared} that differ in {attribute}"
    counts = Counter(face.group(attribute) for face in faces.records)
    came = ", ".join(f"{group}: {counts[group]:,}" for group in GROUPS[attribute])
    if len(counts) == 1:
        [only] = counts
        missing = [group for group in GROUPS[attribute] if group != only]
        return UsageError(
            f"only one {attribute} came, of {n:,} faces ({came}); {needed}: add faces that are {' or '.join(missing)}"
        )
    return UsageError(f"no two of the {n:,} faces make a pair ({came}); {needed}: add faces that match in {shared}")
