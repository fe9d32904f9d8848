"""Replies on disk: what was answered once is never asked again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import cast, get_args

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.request import FAILURES, FinishReason, Reply

_KEYS_A_QUERY = 500
_CACHE_KIB = 64 * 1024
"""Size of the page cache: keys are hashes, so a batch touches as many places of a large store as it has replies."""
_NUMBERS = frozenset({float, int})
_REASONS = frozenset(get_args(FinishReason))
_WARNING = "warning: "  # before a text, among the names of meta
_AWAY = "move it away (every reply is asked again then), or choose another --output"
_COLUMNS = {
    "meta": ("name", "value"),
    "replies": ("key", "text", "finish_reason", "choice_log_probs", "thought"),
}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, finish_reason TEXT NOT NULL, choice_log_probs TEXT NOT NULL,
    thought TEXT NOT NULL
) WITHOUT ROWID;
"""


class Store:
    """SQLite, one row a reply, keyed by the digest of model and request.

    What is put together is one transaction, written before it is used: a process killed anywhere leaves whole
    ones. The disk is waited for now and then only (WAL, synchronous NORMAL), so that single replies can be stored as
    they come: a machine that loses its power may lose the last moments, and nothing before.
    """

    def __init__(self, path: Path, models: Mapping[str, str]):
        """Open or make the store of these models ({agent: identity}).

        Raises UsageError when it holds another model's replies, EvenhandError when it is no store or the disk is full.
        """
        self.path = path
        self._warned: set[tuple[str, str]] = set()
        self._n: int | None = None  # replies; None: not counted yet, which reads the whole file
        with self._explained(), ExitStack() as undo:
            self._connection = sqlite3.connect(path, isolation_level=None)
            undo.callback(self.close)
            self._refuse_other_tables()
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            self._connection.executescript(_SCHEMA)
            recorded = self._connection.execute("SELECT value FROM meta WHERE name = 'models'").fetchone()
            if recorded is None:
                with self._transaction():
                    self._connection.execute("INSERT INTO meta VALUES ('models', ?)", [json.dumps(dict(models))])
            undo.pop_all()
        held = dict(models) if recorded is None else self._models(recorded[0])
        if held != dict(models):
            self.close()
            raise UsageError(
                f"{path} holds replies of {_named(held)}; this run asks {_named(models)}. "
                "Choose another --output, or run the same model with the same dtype"
            )

    def _refuse_other_tables(self) -> None:
        """Before anything is written: another program's database, or another version's, stays as it is."""
        tables = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = [name for _, name, *_ in self._connection.execute("SELECT * FROM pragma_table_info(?)", [table])]
            if tuple(columns) != _COLUMNS.get(table):
                self.close()
                raise EvenhandError(
                    f"{self.path} is no store of this version of evenhand (its table {table!r} has the columns "
                    f"{', '.join(columns)}); {_AWAY}"
                )

    def _models(self, recorded: object) -> dict[str, str]:
        """{agent: identity} whose replies are stored."""
        try:
            models = json.loads(str(recorded))
            if not isinstance(models, dict) or not all(isinstance(each, str) for each in models.values()):
                raise TypeError("no object of names")
        except (ValueError, TypeError, RecursionError) as error:
            self.close()
            raise EvenhandError(f"{self.path} doesn't say whose replies it holds: it is damaged; {_AWAY}") from error
        return models

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The stored replies among these keys."""
        found = {}
        with self._explained():
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(f"SELECT * FROM replies WHERE key IN ({marks})", some)
                for key, text, finish_reason, log_probs, thought in rows:
                    found[key] = self._reply(key, text, finish_reason, log_probs, thought)
        return found

    def _reply(self, key: str, text: object, finish_reason: object, log_probs: object, thought: object) -> Reply:
        """A row as it was put. Raises EvenhandError for what no put could have written."""
        try:
            of_choices = json.loads(str(log_probs))
            for of_choice in of_choices:
                if not (of_choice and _NUMBERS.issuperset(map(type, of_choice))):
                    raise TypeError("log-probabilities are numbers")
            if not (isinstance(text, str) and isinstance(thought, str)) or finish_reason not in _REASONS:
                raise TypeError("texts and a reason are expected")
        except (ValueError, TypeError, RecursionError) as error:
            raise EvenhandError(
                f"{self.path} holds a reply that can't be read ({key!r}): it is damaged; {_AWAY}"
            ) from error
        return Reply(text, cast("FinishReason", finish_reason), tuple(map(tuple, of_choices)), thought)

    def put(self, replies: Iterable[tuple[str, Reply]]) -> None:
        """Store a batch in one transaction. Raises EvenhandError on a full disk; nothing stored before is lost."""
        rows = [
            (
                key,
                _storable(reply.text),
                reply.finish_reason,
                json.dumps(reply.choice_log_probs),
                _storable(reply.thought),
            )
            for key, reply in replies
        ]
        with self._explained(), self._transaction():
            stored = self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", rows).rowcount
        if self._n is not None:
            self._n += stored

    def forget_failures(self) -> None:
        """Delete failed replies, so that their requests are asked again."""
        marks = ",".join("?" * len(FAILURES))
        self._n = None
        with self._explained(), self._transaction():
            self._connection.execute(f"DELETE FROM replies WHERE finish_reason IN ({marks})", sorted(FAILURES))

    def count_texts(self) -> tuple[int, int]:
        """How many texts were written, and how many of them ended within their thought."""
        query = "SELECT count(*), count(*) FILTER (WHERE finish_reason = 'thought') FROM replies WHERE finish_reason"
        with self._explained():
            found = self._connection.execute(f"{query} IN ('stop', 'length', 'thought')").fetchone()
        return int(found[0]), int(found[1])

    def __len__(self) -> int:
        if self._n is None:
            self._n = int(self._connection.execute("SELECT count(*) FROM replies").fetchone()[0])
        return self._n

    def scored(self) -> Iterator[Reply]:
        """All scored choices."""
        with self._explained():
            for row in self._connection.execute("SELECT * FROM replies WHERE finish_reason = 'choice'"):
                yield self._reply(*row)

    def warn(self, warnings: Iterable[tuple[str, str]]) -> None:
        """Keep what a report must say of the replies (code, text): a later command may ask nothing more."""
        if fresh := set(warnings) - self._warned:
            self._warned |= fresh
            with self._explained(), self._transaction():
                rows = [(f"{_WARNING}{text}", code) for code, text in fresh]
                self._connection.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", rows)

    def warnings(self) -> list[tuple[str, str]]:
        """Return (code, text) that `warn` kept."""
        with self._explained():
            found = "SELECT value, name FROM meta WHERE name LIKE ? ORDER BY name"
            rows = self._connection.execute(found, [f"{_WARNING}%"])
            return [(code, name.removeprefix(_WARNING)) for code, name in rows]

    def finish(self, seconds: float, asked: bool) -> None:
        """Keeps when the run was finished, in seconds since 1970; of one that asked nothing more, as it was.

        Here and not in results.json, which is the same to the byte for the same replies.
        """
        how = "REPLACE" if asked else "IGNORE"
        with self._explained(), self._transaction():
            self._connection.execute(f"INSERT OR {how} INTO meta VALUES ('finished', ?)", [str(int(seconds))])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk has rolled back already
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise EvenhandError(_explanation(self.path, error)) from error


def finished_at(path: Path) -> float | None:
    """When the run of this store was finished, in seconds since 1970; None where the store doesn't say, or is none."""
    address = f"{path.absolute().as_uri()}?immutable=1"  # also reads a folder without write permission
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            found = connection.execute("SELECT value FROM meta WHERE name = 'finished'").fetchone()
        return None if found is None else float(found[0])
    except (sqlite3.Error, ValueError, TypeError):
        return None


def _storable(text: str) -> str:
    """Half characters, which some servers send, become question marks: no file could hold them."""
    return text.encode(errors="replace").decode()


def _explanation(path: Path, error: sqlite3.DatabaseError) -> str:
    message = str(error)
    if "full" in message:
        return (
            f"the disk is full at {path}: free space and run the same command again; all replies before this are kept"
        )
    if any(sign in message for sign in ("not a database", "malformed", "decode", "no such")):
        return f"{path} is no store of evenhand, or damaged ({message}); {_AWAY}"
    if "unable to open" in message or "readonly" in message:
        return f"{path} can't be written ({message}); fix that, or choose another --output"
    return f"the store {path} failed: {message}; nothing stored before this is lost, run the same command again"


def _named(models: Mapping[str, str]) -> str:
    return ", ".join(identity if agent == "default" else f"{agent}={identity}" for agent, identity in models.items())
