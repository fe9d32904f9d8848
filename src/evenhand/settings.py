"""What a run is asked to do: everything that decides its numbers, written to config.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Literal

from evenhand.errors import EvenhandError


@dataclass(frozen=True)
class Settings:
    """One run. `configs` empty: the benchmark's default ones. `limit` None: every row."""

    benchmark: str
    model: str
    configs: tuple[str, ...] = ()
    source: Literal["evenhand", "official"] = "evenhand"
    limit: int | None = None
    seed: int = 0
    protocol: Literal["choose", "generate"] = "choose"
    order: Literal["paper", "balanced"] = "paper"
    aggregate: Literal["mean", "sum"] = "mean"
    temperature: float = 0.0
    top_p: float = 1.0
    max_new_tokens: int = 16
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch_size: int = 16
    revision: str | None = None

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, object]) -> Settings:
        """Raises EvenhandError for a record of another version."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(record) - known)
        if unknown:
            raise EvenhandError(f"settings of another version of evenhand: unknown {', '.join(unknown)}; run it again")
        configs = record.get("configs") or ()
        assert isinstance(configs, (list, tuple))
        return cls(**{**record, "configs": tuple(configs)})  # type: ignore[arg-type]

    def differences(self, other: Settings) -> list[str]:
        """'seed: 0, not 1' for every setting in which they differ, this one's value first."""
        mine, others = self.to_json(), other.to_json()
        return [f"{name}: {mine[name]!r}, not {others[name]!r}" for name in mine if mine[name] != others[name]]
