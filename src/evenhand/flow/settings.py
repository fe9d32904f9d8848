"""What a run is asked to do: everything that decides its numbers, written to config.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Literal

from evenhand.benchmarks.labe.texts import Preprocess, TextColumns
from evenhand.errors import EvenhandError, UsageError
from evenhand.models.request import Sampling


@dataclass(frozen=True)
class TextSource:
    """Texts that exist, to be scored in place of what a model writes."""

    path: str
    columns: TextColumns = field(default_factory=TextColumns)
    preprocess: Preprocess = "none"


@dataclass(frozen=True)
class Pictures:
    """What a benchmark of pictures shows. faces: a folder, or "rehearsal" for placeholders; faces_table: its labels.

    pairs: at most so many of each age and shared attribute. images: a folder of pictures for each persona trait.
    """

    faces: str | None = None
    faces_table: str | None = None
    pairs: int = 20
    images: str | None = None


@dataclass(frozen=True)
class Settings:
    """One run. `configs` empty: the benchmark's default ones. `limit` None: every row.

    None elsewhere: the benchmark's default (`filled`); a temperature that is None then, too: the model's own sampling.
    sample: rows drawn so that every group has the same descriptors. runs: how often every row is asked.
    agents: (name, model) of each model that plays characters, where they are several.
    role: whom the model is told to act as. box_scale: the coordinate of the right and lower edge in bounding boxes.
    real_shares: a file with the groups' shares in the world.
    """

    benchmark: str
    model: str
    configs: tuple[str, ...] = ()
    source: Literal["evenhand", "official"] = "evenhand"
    limit: int | None = None
    sample: int | None = None
    texts: TextSource | None = None
    runs: int = 1
    seed: int = 0
    protocol: Literal["choose", "generate", "rank"] | None = None
    order: Literal["paper", "balanced"] = "paper"
    aggregate: Literal["mean", "sum"] = "mean"
    temperature: float | None = None
    top_p: float | None = None
    max_new_tokens: int | None = None
    classifiers: tuple[str, ...] = ()
    setting: Literal["none", "interaction"] | None = None
    goal: bool = False
    agents: tuple[tuple[str, str], ...] = ()
    pictures: Pictures = Pictures()
    role: str | None = None
    box_scale: float | Literal["pixels"] | None = None
    real_shares: str | None = None
    mitigation: str | None = None
    rewriter: str | None = None
    rewrite_mode: Literal["edits", "sentence"] = "edits"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch_size: int = 16
    revision: str | None = None

    def filled(self, defaults: Mapping[str, object]) -> Settings:
        """With a benchmark's defaults where nothing was chosen; one that depends on others is a function of them."""
        chosen = {name: value(self) if callable(value) else value for name, value in {**COMMON, **defaults}.items()}
        return replace(self, **{name: value for name, value in chosen.items() if getattr(self, name) in (None, ())})  # type: ignore[arg-type]

    def check_options(self, accepted: Iterable[str]) -> None:
        """Raises UsageError for an option of some benchmarks that is not among this one's."""
        for name in sorted(OPTIONS_OF_SOME - set(accepted)):
            if getattr(self, name) != _DEFAULTS[name]:
                fitting = ", ".join(f"--{_flag(each)}" for each in sorted(accepted)) or "none"
                raise UsageError(f"{self.benchmark} takes no --{_flag(name)}; of such options it takes: {fitting}")

    def sampling(self) -> Sampling:
        """Of texts that the model writes; settings must be filled."""
        if self.max_new_tokens is None:
            raise ValueError("settings are not filled: max_new_tokens is None")
        return Sampling(self.temperature, 1.0 if self.top_p is None else self.top_p, max_new_tokens=self.max_new_tokens)

    def check_sampling(self) -> None:
        """Raises UsageError for sampling that no model can do."""
        if self.max_new_tokens is not None:
            try:
                self.sampling()
            except ValueError as error:
                raise UsageError(f"--temperature, --top-p or --max-new-tokens can't be used: {error}") from error

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, object]) -> Settings:
        """Raises EvenhandError for a record of another version."""
        known = {each.name for each in fields(cls)}
        unknown = sorted(set(record) - known)
        if unknown:
            raise EvenhandError(f"settings of another version of evenhand: unknown {', '.join(unknown)}; run it again")
        texts = record.get("texts")
        if isinstance(texts, dict):
            texts = TextSource(**{**texts, "columns": TextColumns(**texts["columns"])})
        pictures = record.get("pictures")
        if isinstance(pictures, dict):
            record = {**record, "pictures": Pictures(**pictures)}
        tuples: dict[str, object] = {name: tuple(record.get(name) or ()) for name in ("configs", "classifiers")}  # type: ignore[arg-type]
        tuples["agents"] = tuple((name, model) for name, model in record.get("agents") or ())  # type: ignore[attr-defined]
        return cls(**{**record, **tuples, "texts": texts})  # type: ignore[arg-type]

    def differences(self, other: Settings) -> list[str]:
        """'seed: 0, not 1' for every setting in which they differ, this one's value first."""
        mine, others = self.to_json(), other.to_json()
        return [f"{name}: {mine[name]!r}, not {others[name]!r}" for name in mine if mine[name] != others[name]]


COMMON: dict[str, object] = {"top_p": 1.0}
"""Defaults of every benchmark that has none of its own."""

OPTIONS_OF_SOME = frozenset(
    {"texts", "classifiers", "order", "aggregate", "setting", "goal", "agents"}
    | {"pictures", "role", "box_scale", "real_shares"}
)
_DEFAULTS = {each.name: each.default for each in fields(Settings)}


def _flag(name: str) -> str:
    """As the command line calls a setting."""
    return {"pictures": "faces, --faces-table, --pairs or --images"}.get(name, name.replace("_", "-"))
