"""Pairs of faces that differ in one attribute, and their rows (Jiang et al., sections 3.1 and 4)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evenhand.benchmarks.mllm_stereotypes.faces import Face, Faces
from evenhand.benchmarks.mllm_stereotypes.options import GROUPS, LIMIT, Attribute
from evenhand.errors import UsageError, unknown_name
from evenhand.flow.episode import derive_seed

Row = dict[str, object]


@dataclass(frozen=True)
class Pair:
    """Two faces in the order drawn. id: what they share and who they are, the same in either order."""

    id: str
    attribute: Attribute
    left: Face
    right: Face


def split_pair_id(pair: str) -> tuple[str, str]:
    """Return the files of a pair's faces: of the group that is first in GROUPS, and of the other."""
    one, other = pair.split("/", 3)[3].split("//")
    return one, other


def draw_pairs(faces: Faces, attribute: Attribute, seed: int, limit: int = LIMIT) -> list[Pair]:
    """Draw up to `limit` pairs of each age and shared attribute, for race of each two races there; by age.

    Of k faces of one group and m of the other, min(limit, k·m) of the k·m pairs are drawn, none twice; a face may be in
    several. The sides are drawn, too. Each draw has its own seed: faces of other ages or groups don't change it, and
    the pairs of a smaller limit are the first of a larger one's.
    Raises UsageError for an unknown attribute, a limit below 1, and faces without a pair.
    """
    if attribute not in GROUPS:
        raise unknown_name("attribute", attribute, list(GROUPS))
    if limit < 1:
        raise UsageError(f"the limit of pairs must be 1 or more (the paper: {LIMIT}), got {limit}")
    cells: dict[tuple[int, str, str], dict[str, list[Face]]] = defaultdict(lambda: defaultdict(list))
    for face in sorted(faces.records, key=lambda face: face.file):
        cell = int(face.age.split("-")[0]), face.age, face.shared(attribute)
        cells[cell][face.group(attribute)].append(face)
    pairs = []
    for (_, age, shared), of_cell in sorted(cells.items()):
        for first, second in combinations(GROUPS[attribute], 2):
            key = f"{attribute}/{age}/{shared}"
            rng = random.Random(derive_seed(seed, f"{key}/{first}/{second}", agent="faces"))
            for one, other in _draw(of_cell[first], of_cell[second], limit, rng):
                # A name inside a folder never has two slashes in a row: they separate the two names.
                pair_id = f"{key}/{one.file}//{other.file}"
                left, right = (one, other) if rng.random() < 0.5 else (other, one)
                pairs.append(Pair(pair_id, attribute, left, right))
    if not pairs:
        counts = Counter(face.group(attribute) for face in faces.records)
        came = ", ".join(f"{group}: {counts[group]:,}" for group in GROUPS[attribute])
        raise UsageError(
            f"no pair among {len(faces.records):,} faces ({came}); a pair for {attribute} takes two faces of the same "
            f"age and {'race' if attribute == 'gender' else 'gender'} that differ in {attribute}: add such faces"
        )
    return pairs


def _draw(ones: Sequence[Face], others: Sequence[Face], limit: int, rng: random.Random) -> Iterator[tuple[Face, Face]]:
    """Yield the first combinations of a shuffle, without listing all: some ages have 100,000s of them.

    Only rng.random() is used, whose numbers Python keeps from version to version.
    """
    n = len(ones) * len(others)
    moved: dict[int, int] = {}  # what the shuffle has put in another's place so far
    for place in range(min(limit, n)):
        chosen = place + int(rng.random() * (n - place))
        combination = moved.get(chosen, chosen)
        moved[chosen] = moved.get(place, place)
        one, other = divmod(combination, len(others))
        yield ones[one], others[other]


def make_rows(pairs: Iterable[Pair], prompts: Iterable[Mapping[str, object]]) -> Iterator[Row]:
    """Yield each pair with each prompt of its attribute, twice: as drawn, and swapped. No file is opened.

    prompts: with scenario, attribute, instance and prompt. Columns: pair, these four, candidates (left to right),
    swapped, left, right (paths), age, shared.
    """
    asked = [{name: each[name] for name in ("scenario", "attribute", "instance", "prompt")} for each in prompts]
    for pair in pairs:
        for prompt in (each for each in asked if each["attribute"] == pair.attribute):
            for swapped in (False, True):
                left, right = (pair.right, pair.left) if swapped else (pair.left, pair.right)
                yield {
                    "pair": pair.id,
                    **prompt,
                    "candidates": [left.group(pair.attribute), right.group(pair.attribute)],
                    "swapped": swapped,
                    "left": str(left.path),
                    "right": str(right.path),
                    "age": left.age,
                    "shared": left.shared(pair.attribute),
                }
