"""A stratified, seeded draw of rows: every design column keeps its proportions, however few rows are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd


def draw(design: pd.DataFrame, limit: int | None, seed: int) -> list[int]:
    """Draw `limit` rows of a table of design columns: their positions in table order (all where limit is None).

    Rows are taken one by one from the cell of the design whose values are furthest behind their share so far, summed
    over the columns; ties and rows within a cell by a seeded shuffle. A draw of fewer rows with the same seed is part
    of a draw of more. Raises ValueError where more rows are asked for than there are.
    """
    n = len(design)
    if limit is None or limit == n:
        return list(range(n))
    if not 0 < limit < n:
        raise ValueError(f"--limit must be from 1 to {n:,}, the number of rows, got {limit}")
    rng = np.random.default_rng(seed)
    columns = [pd.factorize(design[column], use_na_sentinel=False)[0] for column in design]  # none is a value, too
    cell_of_row = _joint(columns)
    left = np.bincount(cell_of_row)
    rows_by_cell = np.split(np.argsort(cell_of_row, kind="stable"), left.cumsum()[:-1])
    rows_by_cell = [rng.permutation(rows) for rows in rows_by_cell]
    firsts = np.unique(cell_of_row, return_index=True)[1]
    # Every value of every column has a place in one vector, and each cell a place in it for each column.
    begins = np.cumsum([0, *(int(column.max()) + 1 for column in columns)])
    places = np.stack([begin + column[firsts] for begin, column in zip(begins, columns)])  # (columns, cells)
    shares = np.zeros(begins[-1])
    np.add.at(shares, places, left)
    shares /= n
    drawn = np.zeros(len(shares))
    open_cells = np.zeros(len(left))  # -inf where none is left
    tie_break = np.tile(rng.permutation(len(left)) * 1e-9, 2)  # of each step the one before, moved by a cell
    taken: list[int] = []
    for k in range(1, limit + 1):
        first = -(k - 1) % len(left)
        behind = (shares * k - drawn)[places].sum(axis=0) + tie_break[first : first + len(left)] + open_cells
        cell = int(behind.argmax())
        left[cell] -= 1
        taken.append(int(rows_by_cell[cell][left[cell]]))
        drawn[places[:, cell]] += 1
        if not left[cell]:
            open_cells[cell] = -np.inf
    return sorted(taken)


def draw_together(design: pd.DataFrame, together: pd.DataFrame, limit: int | None, seed: int) -> list[int]:
    """Draw whole sets of rows with the same values of `together`, as many as have `limit` rows or fewer, at least one.

    design: the same in all rows of a set.
    """
    n = len(design)
    if limit is None or not 0 < limit < n:
        return draw(design, limit, seed)
    set_of_row = _joint([pd.factorize(together[column], use_na_sentinel=False)[0] for column in together])
    sizes = np.bincount(set_of_row)
    firsts = design.iloc[np.unique(set_of_row, return_index=True)[1]]
    n_sets = min(len(sizes), max(1, limit // int(sizes.min())))
    while (drawn := draw(firsts, n_sets, seed)) and n_sets > 1 and sizes[drawn].sum() > limit:
        n_sets -= max(1, int(sizes[drawn].sum() - limit) // int(sizes.max()))
    return np.flatnonzero(np.isin(set_of_row, drawn)).tolist()


def draw_matched(matched: Sequence[str], size: int, seed: int) -> list[int]:
    """Draw values of `matched` without replacement: positions of all their rows, `size` in all.

    Each value has one row in every group, so that the groups drawn differ in nothing else. Raises ValueError for a size
    that is not a multiple of the number of groups, or too large.
    """
    values = sorted(set(matched))
    groups = len(matched) // len(values)
    if size < 1 or size % groups or size > len(matched):
        raise ValueError(
            f"--sample must be a multiple of {groups}, the number of groups, up to {len(matched):,}, got {size}"
        )
    places = np.random.default_rng(seed).choice(len(values), size // groups, replace=False)
    drawn = {values[place] for place in places}
    return [position for position, value in enumerate(matched) if value in drawn]


def _joint(columns: Sequence[npt.NDArray[np.intp]]) -> npt.NDArray[np.intp]:
    """Codes of the rows' combined values (rows,), in order of appearance; columns: codes (rows,) each."""
    joint = columns[0]
    for column in columns[1:]:
        joint = pd.factorize(joint * (column.max() + 1) + column)[0]
    return joint
