"""The progress bar of a run: rows done and time left, requests asked and their speed."""

from __future__ import annotations

import time

from tqdm import tqdm


class ProgressBar:
    """Rows that come out of the store count as done at once; the speed is of what is asked now."""

    def __init__(self, name: str):
        self._bar = tqdm(unit="row", desc=name, dynamic_ncols=True, smoothing=0.1)
        self._asked = 0
        self._began = time.monotonic()

    def update(self, rows: int, finished: int, asked: int) -> None:
        """`rows` in all; how many more have finished, and how many more requests have been asked."""
        if self._bar.total is None:
            self._bar.reset(total=rows)
            self._began = time.monotonic()
        self._asked += asked
        speed = self._asked / max(1e-9, time.monotonic() - self._began)
        self._bar.set_postfix_str(f"{self._asked:,} asked, {speed:.1f} prompts/s", refresh=False)
        self._bar.update(finished)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
