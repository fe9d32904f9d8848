"""A scenario with its men and women on other seats, so that no assignment by seat is right more often than another."""

from __future__ import annotations

from itertools import combinations

from evenhand.benchmark import Row


def counterparts(row: Row) -> list[Row]:
    """The scenario once for each way to say which seats are men's, the one that came among them.

    Two men and two women have six ways; in half of them a seat is a man's, and each way has its opposite, with men
    where the women sat. Who gives out tasks by seat alone meets every way to share them out between men and women
    equally often: whatever the rule, as many of its assignments are neutral, so that none of them is worth learning.
    Men keep their order among each other, and so do women.
    """
    people = list(zip(row["characters"], row["genders"]))
    men = [who for who in people if who[1] == "male"]
    others = [who for who in people if who[1] != "male"]
    found: list[Row] = []
    for seats in combinations(range(len(people)), len(men)):
        man, other = iter(men), iter(others)
        seated = [next(man) if seat in seats else next(other) for seat in range(len(people))]
        names, genders = ([who[part] for who in seated] for part in range(2))
        found.append({**row, "characters": names, "genders": genders})
    return found
