"""What a pipeline that makes data with a model is asked: everything that decides what it makes, for config.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evenhand.models.protocol import Model
from evenhand.models.registry import ACCEPTED, DType, load_model
from evenhand.models.request import Sampling
from evenhand.options import option


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Of every pipeline. temperature None: the model's own sampling."""

    model: str = option("embedded", ACCEPTED, metavar="MODEL")
    revision: str | None = option(None, "branch, tag or commit of a Hub model", metavar="REV")
    seed: int = option(0, "of all that is drawn", metavar="S")
    temperature: float | None = option(None, "0 is greedy; by default the model's own sampling", least=0, metavar="T")
    top_p: float = option(1.0, "likewise", above=0, most=1, metavar="P")
    max_new_tokens: int = option(512, "of a reply", least=1, metavar="N")
    dtype: DType = option("auto", "auto: bfloat16 where the hardware has it")
    batch_size: int = option(16, "prompts in a forward pass, or requests that a server answers at once", least=1)
    max_failed: float = option(
        0.01, "share of requests that may fail for good", least=0, most=1, metavar="SHARE", late=True
    )

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_p, max_new_tokens=self.max_new_tokens)

    def load(self) -> Model:
        """Raises ModelError for a model that can't be loaded."""
        return load_model(self.model, dtype=self.dtype, batch_size=self.batch_size, revision=self.revision)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
