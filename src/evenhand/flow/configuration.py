"""A run's configuration: everything that decides its numbers, written to config.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.models.protocol import Ability
from evenhand.models.registry import BACKENDS, EMBEDDED, Backend, backend_of, without_effect
from evenhand.models.request import Sampling
from evenhand.models.template_settings import template_date, template_options, without_unused
from evenhand.options import NoOptions, checked, fields_of, from_record, made, option, pair, without_incidental

if TYPE_CHECKING:
    from evenhand.benchmark import Card

O = TypeVar("O")  # noqa: E741

Protocol = Literal["choose", "generate", "rank"]
NEEDS: Mapping[str, Ability] = {"choose": "choose", "generate": "generate", "rank": "choose"}
"""What a model must be able to do for a protocol."""


@dataclass(frozen=True)
class Asking(Generic[O]):
    """How rows are asked: what every benchmark needs to know of a run, and its own options.

    Attributes:
        run: which of the times that every row is asked.
    """

    options: O
    protocol: str
    sampling: Sampling
    seed: int = 0
    run: int = 0


@dataclass(frozen=True)
class RunConfig(Generic[O]):
    """The settings of a run. None and empty stand for the benchmark's default, which `filled` puts in their place.

    Attributes:
        temperature: None in a filled configuration is the model's own sampling.
        options: the benchmark's own dataclass.
        mitigation_options: the mitigation's.
    """

    benchmark: str
    model: str = option(
        "", "model to measure: embedded, a Hub id, a folder, vllm:NAME or a server's URL", metavar="MODEL"
    )
    model_options: tuple[tuple[str, str], ...] = option(
        (),
        "option of the model's backend, such as device_map=cpu",
        metavar="KEY=VALUE",
        parse=pair,
        flag="model-option",
    )
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    revision: str | None = option(None, "branch, tag or commit of a Hub model", metavar="REV")
    configs: tuple[str, ...] = option((), "dataset configurations", metavar="NAME", flag="config")
    source: Literal["evenhand", "official"] = option("evenhand", "evenhand's rows, or the official published ones")
    limit: int | None = option(
        None, "number of rows, a stratified, seeded sample; all by default", least=1, metavar="N"
    )
    runs: int | None = option(
        None,
        "times that every row is asked; by default as often as the paper averages generated texts, once with --limit",
        least=1,
        metavar="N",
    )
    seed: int = option(0, "random seed of the row sample and of generation", least=0, metavar="S")
    protocol: Protocol | None = option(
        None, "score the options, generate texts, or rank all answers; by default the paper's, if the model can"
    )
    temperature: float | None = option(None, "sampling temperature; 0 is greedy", least=0, metavar="T")
    top_p: float | None = option(None, "nucleus sampling threshold", above=0, most=1, metavar="P")
    max_new_tokens: int | None = option(None, "maximum tokens of one generated text", least=1, metavar="N")
    mitigation: str | None = option(None, "mitigation to apply; see evenhand list", metavar="NAME")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = option(
        "auto", "data type of the weights; auto: bfloat16 where the hardware has it"
    )
    batch_size: int = option(
        16, "prompts in a forward pass, or concurrent requests to a server", least=1, metavar="N", incidental=True
    )
    max_failed: float = option(
        0.01, "share of requests that may fail before the run stops", least=0, most=1, metavar="SHARE", incidental=True
    )
    options: O = field(default_factory=NoOptions)  # type: ignore[assignment]
    mitigation_options: Any = field(default_factory=NoOptions)

    def filled(self, card: Card) -> RunConfig[O]:
        """Put the benchmark's defaults where nothing was chosen."""
        papers = card.sampling
        return replace(
            self,
            model=self.model or EMBEDDED,
            model_options=tuple(sorted(self.model_options)),
            template_options=tuple(sorted(self.template_options)),
            configs=self.configs or card.default_configs or card.configs,
            protocol=self.protocol or card.protocols[0],  # type: ignore[arg-type]
            temperature=papers.temperature if self.temperature is None else self.temperature,
            top_p=self.top_p or papers.top_p,
            max_new_tokens=self.max_new_tokens or papers.max_new_tokens,
        ).repeated(card, self.runs)

    def repeated(self, card: Card, runs: int | None) -> RunConfig[O]:
        """Set how often rows are asked, by default as often as the paper averages sampled texts, once with a limit."""
        varies = self.protocol == "generate" and self.temperature != 0
        return replace(self, runs=runs or (card.runs if varies and self.limit is None else 1))

    @property
    def n_runs(self) -> int:
        """How often every row is asked. Raises ValueError unless the configuration is filled."""
        if self.runs is None:
            raise ValueError("the configuration is not filled: runs is None")
        return self.runs

    def unlike(self, card: Card) -> tuple[str, ...]:
        """Describe how protocol and sampling of a filled configuration differ from the paper's."""
        papers: dict[str, object] = {"protocol": card.protocols[0]}
        if card.protocols[0] != "choose":  # nothing is sampled then
            names = ("temperature", "top_p", "max_new_tokens")
            papers |= {name: getattr(card.sampling, name) for name in names}
        own = "the model's own"
        return tuple(
            f"{name.replace('_', ' ')} {value}, not {own if paper is None else paper}"
            for name, paper in papers.items()
            if (value := getattr(self, name)) != paper
        )

    def sampling(self) -> Sampling:
        """Return how texts are sampled. Raises ValueError unless the configuration is filled."""
        if self.max_new_tokens is None:
            raise ValueError("the configuration is not filled: max_new_tokens is None")
        return Sampling(self.temperature, 1.0 if self.top_p is None else self.top_p, max_new_tokens=self.max_new_tokens)

    def asking(self, run: int = 0) -> Asking[O]:
        return Asking(self.options, str(self.protocol), self.sampling(), self.seed, run)

    def to_json(self) -> dict[str, Any]:
        return without_unused(asdict(self))

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> RunConfig[Any]:
        """Read a configuration. Raises EvenhandError for a record of another version."""
        from evenhand.benchmarks import get_benchmark
        from evenhand.mitigations import get_mitigation

        known = {each.name for each in fields(cls)}
        if unknown := sorted(set(record) - known):
            raise EvenhandError(
                f"a configuration of another version of evenhand: unknown {', '.join(unknown)}; repeat the evenhand "
                "run command with another --output"
            )
        options = get_benchmark(str(record.get("benchmark"))).Options
        mitigation = record.get("mitigation")
        of_mitigation = get_mitigation(str(mitigation)).Options if mitigation else NoOptions
        plain = {name: value for name, value in record.items() if name not in ("options", "mitigation_options")}
        return replace(
            from_record(RunConfig, plain),
            options=from_record(options, record.get("options", {})),
            mitigation_options=from_record(of_mitigation, record.get("mitigation_options", {})),
        )


def run_config(benchmark: str, model: str = "", **values: object) -> RunConfig[Any]:
    """Make a run's configuration from flat names: every run's, the benchmark's own, and the mitigation's.

    Raises UsageError for unknown names, and values out of range.
    """
    from evenhand.benchmarks import get_benchmark
    from evenhand.mitigations import get_mitigation

    of_benchmark = get_benchmark(benchmark).Options
    mitigation = values.get("mitigation")
    of_mitigation = get_mitigation(str(mitigation)).Options if mitigation else NoOptions
    names = [{field.name for field in fields_of(each)} for each in (RunConfig, of_benchmark, of_mitigation)]
    for name in values:
        if not any(name in some for some in names):
            raise unknown_name(f"option of {benchmark}", name, sorted(set().union(*names)))
    parts = [{name: value for name, value in values.items() if name in some} for some in names]
    own = [made(each, part) for each, part in zip((of_benchmark, of_mitigation), parts[1:])]
    return checked(
        RunConfig(benchmark, model, options=own[0], mitigation_options=own[1], **parts[0])  # type: ignore[arg-type]
    )


def differences(one: Mapping[str, Any], other: Mapping[str, Any], before: str = "") -> list[str]:
    """List settings in which two records differ, the first one's value first: 'seed: 0, not 1'."""
    found: list[str] = []
    for name in dict.fromkeys((*one, *other)):
        mine, theirs = one.get(name), other.get(name)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += differences(mine, theirs, f"{before}{name}.")
        elif mine != theirs:
            found.append(f"{before}{name}: {mine!r}, not {theirs!r}")
    return found


def deciding(config: object, record: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a configuration's record incidental options, which don't decide the results.

    These are the configuration's own, those of the options dataclasses in it, and of its models' backends.
    """
    if not is_dataclass(config):
        return dict(record)
    kept = without_incidental(type(config), record)
    for name, value in kept.items():
        own = getattr(config, name, None)
        if is_dataclass(own) and isinstance(value, Mapping):
            kept[name] = deciding(own, value)
    if "model_options" in kept:
        kept["model_options"] = _deciding_pairs(kept.get("model"), kept["model_options"])
    return kept


def _deciding_pairs(model: object, pairs: Any) -> Any:
    """Of --model-option's pairs, without incidental options of evenhand's backends and of this model's."""
    if not pairs:
        return []
    try:
        made = [cast(Backend, BACKENDS.make(name)) for name in BACKENDS.own]
        of_any = [each for backend in (*made, backend_of(str(model))) for each in fields_of(backend.Options)]
        given = {str(key).replace("_", "-"): [key, value] for key, value in pairs}
    except (EvenhandError, TypeError, ValueError):
        return pairs
    incidental = {each.flag for each in of_any if each.incidental}
    return [pair for flag, pair in given.items() if flag not in incidental]


def check_loading(config: RunConfig[Any], measured: Iterable[str], further: Iterable[str] = ()) -> None:
    """Raise UsageError for options of loading that have no effect on any of these models.

    Args:
        measured, further: names of models; a revision is of the measured ones alone.
    """
    of_measured = {name: without_effect(name) for name in measured}
    every = of_measured | {name: without_effect(name) for name in further}
    for each in fields_of(RunConfig):
        among = of_measured if each.name == "revision" else every
        given = each.name in ("revision", "dtype", "batch_size") and getattr(config, each.name) != each.default
        if given and among and all(each.name in idle for idle in among.values()):
            model, idle = next(iter(among.items()))
            raise UsageError(f"--{each.flag} has no effect: {model}: {idle[each.name]}. Leave it out")


def check_writing(config: RunConfig[Any], filled: RunConfig[Any], papers: RunConfig[Any]) -> None:
    """Raise UsageError for options of generated texts where none is generated, or nothing sampled.

    Args:
        config: as it was asked for.
        filled: with defaults.
        papers: defaults alone.
    """
    names = ("temperature", "top_p", "max_new_tokens")
    given = [name for name in names if getattr(config, name) not in (None, getattr(papers, name))]
    if filled.protocol == "choose" and given:
        flag, why = given[0].replace("_", "-"), "--protocol choose scores options (--protocol generate writes)"
        raise UsageError(f"--{flag} has no effect: {why}. Leave it out")
    if "top_p" in given and not filled.temperature:
        why = "the model's own sampling has its own" if filled.temperature is None else "nothing is sampled at 0"
        raise UsageError(f"--top-p has no effect: {why}; give a --temperature above 0, or leave it out")


def chosen_protocol(
    card: Card, config: RunConfig[O], can: frozenset[Ability], name: str, why: str = ""
) -> tuple[str, str | None]:
    """Choose the first protocol of the benchmark that a model can, with a note where it is not the paper's.

    Args:
        why: why the model scores no options, for an error.

    Raises:
        UsageError: where the model can't the requested protocol, or any.
    """
    if config.protocol is not None:
        one_token = config.protocol == "choose" and "choose_one_token" in can
        if NEEDS[config.protocol] not in can and not one_token:
            fitting = [each for each in card.protocols if NEEDS[each] in can]
            raise UsageError(
                f"--protocol {config.protocol} needs a model that can {NEEDS[config.protocol]}, and {name} "
                f"can't{': ' + why if why and NEEDS[config.protocol] == 'choose' else ''}; "
                f"accepted with it: {', '.join(fitting) or 'no protocol of ' + card.name}"
            )
        return config.protocol, None
    papers = card.protocols[0]
    for each in card.protocols:
        if NEEDS[each] in can:
            note = f"protocol {each} was used instead of {papers}, for {name} can't {NEEDS[papers]}"
            return each, None if each == papers else note
    raise UsageError(f"{name} can do none of the protocols of {card.name}: {', '.join(card.protocols)}")
