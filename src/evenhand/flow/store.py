"""Replies on disk: what was answered once is never asked again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.request import FAILURES, Reply

_KEYS_A_QUERY = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, finish_reason TEXT NOT NULL, choice_log_probs TEXT NOT NULL
) WITHOUT ROWID;
"""


class Store:
    """SQLite, one row a reply, keyed by the digest of model and request.

    What is put together is one transaction, written before anybody sees it: a process killed anywhere leaves whole
    ones. The disk is waited for now and then only (WAL, synchronous NORMAL), so that single replies can be stored as
    they come: a machine that loses its power may lose the last moments, and nothing before.
    """

    def __init__(self, path: Path, models: Mapping[str, str]):
        """Open or make the store of these models ({agent: identity}).

        Raises UsageError when it holds another model's replies, EvenhandError when it is no store or the disk is full.
        """
        self.path = path
        with self._explained(), ExitStack() as undo:
            self._connection = sqlite3.connect(path, isolation_level=None)
            undo.callback(self.close)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
            recorded = self._connection.execute("SELECT value FROM meta WHERE name = 'models'").fetchone()
            if recorded is None:
                with self._transaction():
                    self._connection.execute("INSERT INTO meta VALUES ('models', ?)", [json.dumps(dict(models))])
            undo.pop_all()
        if recorded is not None and json.loads(recorded[0]) != dict(models):
            self.close()
            raise UsageError(
                f"{path} holds replies of {_named(json.loads(recorded[0]))}; this run asks {_named(models)}. "
                "Choose another --output, or run the same model with the same dtype"
            )

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The stored replies among these keys."""
        found = {}
        with self._explained():
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(f"SELECT * FROM replies WHERE key IN ({marks})", some)
                for key, text, finish_reason, log_probs in rows:
                    found[key] = Reply(text, finish_reason, tuple(tuple(each) for each in json.loads(log_probs)))
        return found

    def put(self, replies: Iterable[tuple[str, Reply]]) -> None:
        """Store a batch in one transaction. Raises EvenhandError on a full disk; nothing stored before is lost."""
        rows = [
            (key, _storable(reply.text), reply.finish_reason, json.dumps(reply.choice_log_probs))
            for key, reply in replies
        ]
        with self._explained(), self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", rows)

    def forget_failures(self) -> None:
        """Requests that failed for good count as not asked: what was in their way may be mended."""
        marks = ",".join("?" * len(FAILURES))
        with self._explained(), self._transaction():
            self._connection.execute(f"DELETE FROM replies WHERE finish_reason IN ({marks})", sorted(FAILURES))

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM replies").fetchone()[0])

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


def _storable(text: str) -> str:
    """Half characters, which some servers send, become question marks: no file could hold them."""
    return text.encode(errors="replace").decode()


def _explanation(path: Path, error: sqlite3.DatabaseError) -> str:
    message = str(error)
    if "full" in message:
        return (
            f"the disk is full at {path}: free space and run the same command again; all replies before this are kept"
        )
    if "not a database" in message or "malformed" in message:
        return f"{path} is no store of evenhand, or damaged ({message}); move it away, or choose another --output"
    return f"the store {path} failed: {message}; nothing stored before this is lost, run the same command again"


def _named(models: Mapping[str, str]) -> str:
    return ", ".join(identity if agent == "default" else f"{agent}={identity}" for agent, identity in models.items())
