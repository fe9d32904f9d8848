"""The model in memory, and of each benchmark the run that it can do."""

from __future__ import annotations

import textwrap
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import NEEDS, RunConfig, run_config
from evenhand.models.protocol import Model
from evenhand.models.registry import load_model, options_by_model
from evenhand.options import values_of
from evenhand.profiling.settings import ProfileOptions

LONGEST = 500  # characters of a reason


class Loaded:
    """The model that is held in memory: one at a time, loaded when it is needed."""

    def __init__(self, options: ProfileOptions):
        self._options = options
        self._held: tuple[str, bool] | None = None
        self._model: Model | None = None

    def get(self, name: str, pictures: bool) -> Model:
        """pictures: whether it will be shown some. Raises ModelError, UsageError."""
        if self._model is None or self._held != (name, pictures):
            self.close()
            given = options_by_model([name], dict(self._options.model_options))[name]
            self._model = load_model(
                name, dtype=self._options.dtype, batch_size=self._options.batch_size, pictures=pictures, options=given
            )
            self._held = (name, pictures)
        return self._model

    @property
    def holds(self) -> bool:
        return self._model is not None

    def close(self) -> None:
        if self._model is not None:
            self._model.close()
        self._model = self._held = None


def given(name: str, options: ProfileOptions) -> dict[str, object]:
    """A benchmark's own options. Raises UsageError for one that it hasn't."""
    return values_of(get_benchmark(name).Options, options.of(name), name)


def config_of(
    model: str, name: str, limit: int | None, options: ProfileOptions, loaded: Loaded
) -> tuple[RunConfig[Any], Model]:
    """A benchmark's run by default, or of the part that the model can do. Raises UsageError where there is none."""
    card = get_benchmark(name).card
    asked = loaded.get(model, card.sees)
    if card.sees and "see" not in asked.can:
        raise UsageError(f"{name} shows pictures, and {model} takes none")
    if not any(NEEDS[each] in asked.can for each in card.protocols):  # type: ignore[index]
        needed = " or ".join(dict.fromkeys(NEEDS[each] for each in card.protocols))  # type: ignore[index]
        raise UsageError(f"{name} needs a model that can {needed}, and {model} can't")
    own_of = given(name, options)
    own: dict[str, Any] = {**get_benchmark(name).configuring.part(asked, own_of).options, **own_of}
    return (
        run_config(
            name, model, limit=limit, seed=options.seed, dtype=options.dtype, batch_size=options.batch_size,
            model_options=options.model_options, **own,
        ),
        asked,
    )  # fmt: skip


def sentence_of(error: Exception) -> str:
    """In one line, however long a library's words were."""
    return textwrap.shorten(str(error), LONGEST, placeholder=" …")
