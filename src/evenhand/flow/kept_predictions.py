"""Predictions of a run that is under way, in parts on disk: memory stays flat, and a resumed run goes on behind them.

To read a million stored replies again, and to make what was asked for them, takes most of a minute. What was read is
therefore kept, in parts of many predictions; a small run has none. Parts are for the very same run alone, of the same
settings, rows, models, versions and code: any other reads its replies again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from evenhand.flow.episode import Prediction
from evenhand.flow.store import Store
from evenhand.whole_files import explained, whole_file

PREDICTIONS_A_PART = 10_000
_SAID = b"evenhand"
_NAME = re.compile(r"\d{6}\.arrow")


@dataclass(frozen=True)
class Reached:
    """How far parts go: so many episodes, and so many predictions of the one after.

    replies: in the store when the last part was written. failed: {key: reason} of requests that failed for good.
    """

    episodes: int = 0
    into: int = 0
    replies: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


class KeptPredictions:
    """The parts in a folder, from the first to the last one that is of this run; others are removed."""

    def __init__(self, folder: Path, store: Store, of: Callable[[], str | None]):
        """of: what tells this run from all others, asked for where there are parts; None: no parts are kept.

        Raises EvenhandError where old parts can't be removed.
        """
        self._folder = folder
        self._store = store
        self._find_of = of
        self._parts: list[Path] = []
        self.reached = Reached()
        for path in self._files():
            reached = self._read(path)
            if reached is None:
                break
            self._parts.append(path)
            self.reached = reached
        if self._parts and not self._is_stored(self.reached):
            self._parts, self.reached = [], Reached()
        self._remove([path for path in self._files() if path not in self._parts])

    def table(self, arriving: Iterable[list[Prediction]], failed: Mapping[str, str]) -> pa.Table:
        """All predictions, once those of each episode from `reached.episodes` on have come.

        failed: as `Reached` has it; whoever runs the episodes adds to it.
        """
        waiting: list[Prediction] = []
        held: list[pa.Table] = []
        episodes, skipped = self.reached.episodes, self.reached.into
        for predictions in arriving:
            waiting += predictions[skipped:]
            skipped = 0
            while len(waiting) >= PREDICTIONS_A_PART:
                part, waiting = pa.Table.from_pylist(waiting[:PREDICTIONS_A_PART]), waiting[PREDICTIONS_A_PART:]
                into = len(predictions) - len(waiting) if waiting else 0
                if self._of is None:
                    held.append(part)
                else:
                    self._write(part, Reached(episodes + (not waiting), into, len(self._store), dict(failed)))
            episodes += 1
        held += [pa.Table.from_pylist(waiting)] if waiting else []
        return pa.concat_tables([*map(_table, self._parts), *held], promote_options="permissive")

    def remove(self) -> None:
        """The run has what they were kept for."""
        self._remove(self._files())
        self._parts = []

    @cached_property
    def _of(self) -> str | None:
        return self._find_of()

    def _files(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("*.arrow") if _NAME.fullmatch(path.name))

    def _write(self, table: pa.Table, reached: Reached) -> None:
        table = table.replace_schema_metadata({_SAID: json.dumps({"of": self._of, **vars(reached)})})
        path = self._folder / f"{len(self._parts):06}.arrow"
        with explained(path):
            self._folder.mkdir(exist_ok=True)
            with whole_file(path) as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        self._parts.append(path)

    def _read(self, path: Path) -> Reached | None:
        """What a part says of itself; None where it is of another run, damaged, or not the next one."""
        try:
            said = json.loads((pa.ipc.open_file(pa.memory_map(str(path))).schema.metadata or {})[_SAID])
            of, reached = said.pop("of"), Reached(**said)
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError):
            return None
        return reached if of == self._of is not None and path.name == f"{len(self._parts):06}.arrow" else None

    def _is_stored(self, reached: Reached) -> bool:
        """Whether all replies are there that were read. What failed may have been forgotten, to be asked again."""
        stored = self._store.get(sorted(reached.failed))
        known = {key: reply.finish_reason for key, reply in stored.items()}
        return len(self._store) >= reached.replies and known == reached.failed

    def _remove(self, parts: Iterable[Path]) -> None:
        with explained(self._folder):
            for path in parts:
                path.unlink()
        with suppress(OSError):  # not there, or something else is in it
            self._folder.rmdir()


def _table(part: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(part))).read_all().replace_schema_metadata()
