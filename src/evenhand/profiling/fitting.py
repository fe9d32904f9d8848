"""The model in memory, and of each benchmark the run that it can do."""

from __future__ import annotations

import textwrap
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import NEEDS, RunConfig, run_config
from evenhand.models.protocol import HasChatTemplate, Model
from evenhand.models.registry import load_model, options_by_model
from evenhand.models.template_settings import TemplateSettings
from evenhand.options import values_of
from evenhand.profiling.settings import ProfileOptions

LONGEST = 500  # characters of a reason


class LoadedModel:
    """The model that is held in memory: one at a time, loaded when it is needed."""

    def __init__(self, options: ProfileOptions):
        self._options = options
        self._held: tuple[str, bool] | None = None
        self.model: Model | None = None

    def load(self, name: str, pictures: bool) -> Model:
        """pictures: whether it will be shown some. Raises ModelError, UsageError."""
        if self.model is None or self._held != (name, pictures):
            self.close()
            given = options_by_model([name], dict(self._options.model_options))[name]
            self.model = load_model(
                name,
                dtype=self._options.dtype,
                batch_size=self._options.batch_size,
                pictures=pictures,
                options=given,
                template=TemplateSettings.of(self._options),
            )
            self._held = (name, pictures)
        return self.model

    def close(self) -> None:
        if self.model is not None:
            self.model.close()
        self.model = None


def own_options(benchmark: str, options: ProfileOptions) -> dict[str, object]:
    """A benchmark's own options that were given. Raises UsageError for unknown ones."""
    return values_of(get_benchmark(benchmark).Options, options.of(benchmark), benchmark)


def configure(
    model: str, name: str, limit: int | None, options: ProfileOptions, loaded: LoadedModel
) -> tuple[RunConfig[Any], Model]:
    """A benchmark's run by default, or of the part that the model can do. Raises UsageError where there is none."""
    benchmark = get_benchmark(name)
    card = benchmark.card
    asked = loaded.load(model, card.sees)
    if card.sees and "see" not in asked.can:
        raise UsageError(f"{name} shows pictures, and {model} takes none")
    needed = dict.fromkeys(NEEDS[each] for each in card.protocols)  # type: ignore[index]
    if not asked.can & needed.keys():
        raise UsageError(f"{name} needs a model that can {' or '.join(needed)}, and {model} can't")
    own = own_options(name, options)
    chosen: dict[str, Any] = {**benchmark.configuring.part(asked, own).options, **own}
    config = run_config(
        name, model, limit=limit, seed=options.seed, dtype=options.dtype, batch_size=options.batch_size,
        model_options=options.model_options, template_options=options.template_options,
        date=asked.template_date if isinstance(asked, HasChatTemplate) else None, **chosen,
    )  # fmt: skip
    return config, asked


def in_one_line(error: Exception) -> str:
    """An error's message in one line, however long a library made it."""
    return textwrap.shorten(str(error), LONGEST, placeholder=" …")
