"""The main job: rows to episodes to predictions to scores to a report, in one run folder."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Helper, Rows
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import FigureTable, Sample, figure_rows
from evenhand.flow.configuration import NEEDS, RunConfig, chosen_protocol, differences
from evenhand.flow.episode import Episode
from evenhand.flow.idle_options import check_loading, check_writing
from evenhand.flow.results import SCHEMA_VERSION, Results, RunWarning, figure_warnings, published_beside, versions
from evenhand.flow.rows import drawn_rows, each_row
from evenhand.flow.run_folder import GROWING, RunFolder
from evenhand.flow.runner import Runner, Step, Tolerance, failures_in_words
from evenhand.flow.store import Store
from evenhand.flow.template_date import keep_date, record_date
from evenhand.mitigation import Mitigation
from evenhand.mitigations import chosen_mitigation
from evenhand.models.errors import LimitReached, ModelError
from evenhand.models.protocol import HasChatTemplate, HasNotes, Model, SaysHowItScores, SaysWhatItTook, ScoresOneToken
from evenhand.models.registry import LoadModel, load_model, options_by_model
from evenhand.models.template_settings import TemplateSettings, today
from evenhand.progress import SILENT_FOR, ProgressBar
from evenhand.report.pages import ReportedRun, write_report

if TYPE_CHECKING:
    import datasets

    from evenhand.report.findings import Findings

logger = logging.getLogger(__name__)

ModelOptions = Mapping[str, Mapping[str, str]]
"""KEY=VALUE pairs for each model, by its name."""

OnProgress = Callable[[int, Step], None]
"""Told of the number of episodes in all, and of each step."""

ROWS_AT_ONCE = 500  # of text; those with pictures are decoded one by one
MOST_LEFT_OUT = 0.05  # of the paper's rows, for want of what asking needs: so few change no figure much


@dataclass(frozen=True)
class Prepared:
    """A run that is about to begin. measured: the models that are judged; models: all that are asked, by agent."""

    benchmark: Benchmark[Any]
    mitigation: Mitigation[Any] | None
    config: RunConfig[Any]
    rows: Rows
    measured: Mapping[str, Model]
    models: Mapping[str, Model]
    helpers: Mapping[str, Helper]
    notes: tuple[str, ...]

    def episodes(self, rows: datasets.Dataset, run: int = 0) -> Iterator[Episode]:
        how = self.config.asking(run)
        for row in each_row(rows, 1 if self.benchmark.card.sees else ROWS_AT_ONCE):
            episode = self.benchmark.episode(row, how)
            yield (
                self.mitigation.wrap(episode, row, how, self.config.mitigation_options) if self.mitigation else episode
            )

    def all_episodes(self) -> Iterator[Episode]:
        """Those of all rows in all runs."""
        for run in range(self.config.n_runs):
            yield from self.episodes(self.rows.rows, run)


def evaluate(
    config: RunConfig[Any],
    output: Path,
    model: Model | None = None,
    on_progress: OnProgress | None = None,
    load: LoadModel | None = None,
) -> ReportedRun:
    """Run a benchmark to its end and leave its folder; a run that was interrupted goes on where it stopped.

    model: answers in place of those that the configuration names. load: loads those, elsewhere than here.
    on_progress: None is a bar on standard error, of what takes longer than ten seconds.
    Raises UsageError for a configuration that doesn't fit, EvenhandError for what failed on the way.
    """
    if not isinstance(config, RunConfig):
        raise UsageError(
            f"a configuration is accepted first, as evenhand.run_config(benchmark, model, …) makes; {config!r} came"
        )
    output = Path(output)
    RunFolder(output).refuse_occupied()
    if on_progress:
        return _evaluated(config, output, model, on_progress, load)
    with ProgressBar(config.benchmark, SILENT_FOR) as bar:
        return _evaluated(config, output, model, bar.update, load)


def _evaluated(
    config: RunConfig[Any], output: Path, model: Model | None, progress: OnProgress, load: LoadModel | None
) -> ReportedRun:
    run = prepare(keep_date(config, RunFolder(output)), model, load)
    identities = {agent: each.identity for agent, each in run.models.items()}
    with RunFolder.begin(output, run.config) as folder, Store(folder.store, identities) as store:
        before, begun = folder.begun(), folder.extend(run.config)
        written = folder.results.stat().st_mtime if folder.results.is_file() else None
        if written is None or begun != before:
            _tell_of_near_ties(run, before)
        n_episodes, known = len(run.rows.rows) * run.config.n_runs, len(store)
        progress(n_episodes, Step())
        tolerance = Tolerance(run.config.max_failed, n_episodes)
        runner = Runner(run.models, store, lambda step: progress(n_episodes, step), tolerance)
        try:
            folder.write_predictions(chain.from_iterable(runner.run(run.all_episodes())))
        except ModelError as error:
            goes_on = f" {len(store):,} replies are stored; the same command goes on from here and asks nothing twice."
            ended: type[Exception] = EvenhandError if isinstance(error, LimitReached) else ModelError
            raise ended(f"{str(error).rstrip('.')}.{goes_on if len(store) else ''}") from error
        progress(n_episodes, Step(doing="scoring"))
        warned = [RunWarning(code, text) for code, text in _model_warnings(run, store)]
        if runner.failures:
            warned.append(RunWarning("failed_requests", failures_in_words(runner.failures) + ": unread"))
        warned += _thoughts(store, run.config)
        sample = run.benchmark.sample(folder.read_predictions())
        results = folder.write_results(_results(run, begun, sample, warned))
        asked = len(store) > known
        store.finish(time.time() if asked or written is None else written, asked)
        progress(n_episodes, Step(doing="writing the report"))
        findings = run.benchmark.findings(sample.rows, results)
        _keep_pictures(folder, run, findings)
        write_report(folder, found=(results, findings))
        took = (each.took for each in run.models.values() if isinstance(each, SaysWhatItTook))
        progress(n_episodes, Step(took=tuple(dict.fromkeys(took))))
    reported = ReportedRun(folder.path)
    reported.found = (results, findings)
    return reported


def prepare(config: RunConfig[Any], model: Model | None = None, load: LoadModel | None = None) -> Prepared:
    """Load models and rows, and put defaults where nothing was chosen. Raises UsageError for what doesn't fit."""
    benchmark, date = get_benchmark(config.benchmark), config.date
    config = replace(config, date=date or today())  # the same for all models
    filled = benchmark.configuring.filled(config)
    _check(benchmark, config, filled)
    mitigation = chosen_mitigation(filled)
    further = mitigation.agents(filled.mitigation_options) if mitigation else {}
    named = benchmark.configuring.measured(filled)
    if model is not None and not named:
        raise UsageError("a model was given, and this run asks none: what exists is scored. Leave it out")
    if model is None and named:
        check_loading(config, named.values(), further.values())
    options = options_by_model([*(() if model else named.values()), *further.values()], dict(filled.model_options))
    rows = drawn_rows(benchmark, filled)
    measured = load_measured(benchmark, filled, options, model, load)
    by_default = filled.protocol
    filled, notes = _suited(benchmark, config, filled, measured)
    if filled.protocol != by_default:  # which may read other rows
        rows = drawn_rows(benchmark, filled)
    helpers = benchmark.configuring.helpers(filled.options)
    models = {
        **measured,
        **{agent: helper.model for agent, helper in helpers.items()},
        **{
            agent: _loaded(benchmark, replace(filled, revision=None), name, options, load)
            for agent, name in further.items()
        },
    }
    filled = record_date(replace(filled, date=date), models.values())
    return Prepared(benchmark, mitigation, filled, rows, measured, models, helpers, (*notes, *rows.notes))


def _check(benchmark: Benchmark[Any], config: RunConfig[Any], filled: RunConfig[Any]) -> None:
    """Raises UsageError for what fits no protocol that may be taken: which one, the models decide later."""
    first: UsageError | None = None
    for protocol in [config.protocol] if config.protocol else benchmark.card.protocols:
        try:
            benchmark.configuring.check(replace(filled, protocol=protocol).repeated(benchmark.card, config.runs))  # type: ignore[arg-type]
            break
        except UsageError as error:
            first = first or error
    else:
        assert first is not None
        raise first
    if filled.protocol not in benchmark.card.protocols:
        accepted = " or ".join(benchmark.card.protocols)
        raise UsageError(f"--protocol {filled.protocol} is none of {benchmark.card.name}'s: {accepted} is accepted")


def _suited(
    benchmark: Benchmark[Any], config: RunConfig[Any], filled: RunConfig[Any], measured: Mapping[str, Model]
) -> tuple[RunConfig[Any], tuple[str, ...]]:
    """The filled configuration by a protocol that every measured model can, and what is to be said of that."""
    notes: tuple[str, ...] = ()
    filled = benchmark.configuring.filled(config, measured)
    if measured:
        can = frozenset.intersection(*(each.can for each in measured.values()))
        name = " and ".join(dict.fromkeys(each.name for each in measured.values()))
        ways = {each.name: each.scoring_way for each in measured.values() if isinstance(each, SaysHowItScores)}
        protocol, note = chosen_protocol(benchmark.card, config, can, name, "; ".join(ways.values()))
        filled = replace(filled, protocol=protocol).repeated(benchmark.card, config.runs)  # type: ignore[arg-type]
        benchmark.configuring.check(filled, measured)
        check_writing(config, filled, benchmark.configuring.filled(RunConfig(config.benchmark, options=config.options)))
        if protocol == "choose" and "choose" not in can:
            ways = {}  # said at the end, with what was found
            for model in measured.values():
                if isinstance(model, ScoresOneToken):
                    model.check_one_token()
        said = "; ".join(f"{name}: {way}" for name, way in ways.items())
        writes = NEEDS[protocol] != "choose"  # type: ignore[index]
        notes = (f"{note} ({said})" if said and writes else note,) if note else ()
    return filled, notes


def load_measured(
    benchmark: Benchmark[Any],
    config: RunConfig[Any],
    options: ModelOptions,
    model: Model | None = None,
    load: LoadModel | None = None,
) -> dict[str, Model]:
    """The models that are measured, by agent; each is loaded once. model: answers in place of each of them."""
    named = benchmark.configuring.measured(config)
    loaded = {name: model or _loaded(benchmark, config, name, options, load) for name in dict.fromkeys(named.values())}
    return {agent: loaded[name] for agent, name in named.items()}


def _loaded(
    benchmark: Benchmark[Any], config: RunConfig[Any], name: str, options: ModelOptions, load: LoadModel | None
) -> Model:
    loaded: Model = (load or load_model)(
        name,
        dtype=config.dtype,
        batch_size=config.batch_size,
        revision=config.revision,
        pictures=benchmark.card.sees,
        options=options[name],
        alone=len(options) == 1,
        template=TemplateSettings.of(config),
    )
    return loaded


def _keep_pictures(folder: RunFolder, run: Prepared, findings: Findings) -> None:
    """Those of the report's examples, so that the report can be written again wherever the folder goes."""
    shown = {example.picture for example in findings.examples} - {None}
    for place, name in enumerate(run.rows.rows["id"] if shown else ()):
        if name in shown:
            requests = run.benchmark.ask(run.rows.rows[place], run.config.asking(0))
            images = [image for request in requests for message in request.messages for image in message.images]
            folder.keep_picture(name, images[0].data)


def _tell_of_near_ties(run: Prepared, begun: Mapping[str, Any]) -> None:
    """Where a run goes on with other batches, or elsewhere, and computes in so few digits that it may show."""
    asked = json.loads(json.dumps(run.config.to_json()))
    kept, given = (
        {name: each.get(name) for name in ("batch_size", "model_options", *GROWING)} for each in (begun, asked)
    )
    changed = differences(kept, given)
    rough = {each.name for each in run.models.values() if each.whole_calls and _computes_in_16_bits(each)}
    if changed and rough:
        logger.warning(
            "The run was begun with %s. %s computes in 16 bits: where two answers are nearly as likely, another may be "
            "taken than without this change (with --dtype float32 none is).",
            "; ".join(changed),
            " and ".join(sorted(rough)),
        )


def _model_warnings(run: Prepared, store: Store) -> list[tuple[str, str]]:
    """What models found out while they answered, in earlier commands, too."""
    found = store.warnings()
    if run.config.protocol == "choose":
        for model in dict.fromkeys(run.measured.values()):
            if isinstance(model, ScoresOneToken):
                found += model.score_warnings(store.scored())
    return found


def _computes_in_16_bits(model: Model) -> bool:
    """A local model's identity has its dtype behind its name: float16, or bfloat16."""
    return any(word in ("float16", "bfloat16") for word in model.identity.split())


def _results(run: Prepared, begun: dict[str, Any], sample: Sample, warned: Sequence[RunWarning]) -> Results:
    benchmark = run.benchmark
    figures = FigureTable(figure_rows(benchmark.figures, sample))
    warnings = (
        *(RunWarning("note", note) for note in run.notes),
        *_scoring_notes(run),
        *warned,
        *figure_warnings(benchmark, figures),
        *_model_notes(run),
        *benchmark.warnings(sample.rows, figures, run.config),
    )
    measured = run.measured
    alone = len(measured) == 1
    differs = _differs(run, any(each.code == "rehearsal" for each in warnings))
    main = benchmark.main_rows(figures)
    return Results(
        schema_version=SCHEMA_VERSION,
        benchmark=run.benchmark.card.name,
        config=begun,
        model=run.config.model,
        model_name=_named({agent: each.name for agent, each in measured.items()}, alone, run.rows.origin),
        model_identity=_named({agent: each.identity for agent, each in measured.items()}, alone, run.rows.origin),
        agents={agent: each.identity for agent, each in run.models.items()},
        helpers=[
            {"name": each.name, "identity": each.model.identity, "trained": dict(each.record)}
            for each in run.helpers.values()
        ],
        n=sum(row.n for row in main),
        n_read=sum(row.n_read for row in main),
        figures=figures,
        warnings=warnings,
        published=benchmark.published(replace(run.config, limit=None)) if _as_the_papers(run, differs) else [],
        versions=versions("" if run.rows.sha256 else run.benchmark.card.dataset),
        rows_sha256=run.rows.sha256,
        differs=differs,
    )


def _model_notes(run: Prepared) -> list[RunWarning]:
    """What its models say about texts that they write."""
    if NEEDS.get(run.config.protocol or "") != "generate":
        return []
    notes = [note for each in run.models.values() if isinstance(each, HasNotes) for note in each.notes.items()]
    return [RunWarning(code, text) for code, text in dict.fromkeys(notes)]


def _scoring_notes(run: Prepared) -> list[RunWarning]:
    """How options are scored: a server's way, and what chat templates write before an answer."""
    if NEEDS[run.config.protocol or "generate"] != "choose":
        return []
    models = list(run.measured.values())
    ways = (each.scoring_way for each in models if isinstance(each, SaysHowItScores) and "choose" in each.can)
    after = (note for each in models if isinstance(each, HasChatTemplate) for note in each.template_notes)
    return [
        *(RunWarning("scored_by", f"options were scored by {way}") for way in dict.fromkeys(ways)),
        *(RunWarning("scored_after", note) for note in dict.fromkeys(after)),
    ]


def _thoughts(store: Store, config: RunConfig[Any]) -> list[RunWarning]:
    """A warning where texts ended within a thought."""
    texts, cut_off = store.count_texts()
    if not cut_off:
        return []
    return [
        RunWarning(
            "thought_cut_off",
            f"{cut_off:,} of {texts:,} texts ended within a thought, without an answer: unread. Raise --max-new-tokens "
            f"(now {config.max_new_tokens}), or turn thinking off (--template-option enable_thinking=false, where the "
            "model's chat template has it)",
        )
    ]


def _differs(run: Prepared, rehearsal: bool) -> list[str]:
    """In what a run is not as in the paper; nothing of a benchmark that has no published figures."""
    benchmark = run.benchmark
    kind = type(benchmark)
    if kind.published is Benchmark.published and not published_beside(kind):
        return []
    n, whole = len(run.rows.rows), run.rows.drawn_from or 0
    part = [f"only {n:,} of {whole:,} rows"] if n < whole else []
    part += _left_out(run)
    placeholders = ["placeholders in place of data"] if rehearsal else []  # under whatever name they came
    mitigation = run.mitigation
    others = (
        [f"mitigation {mitigation.name}, which the paper doesn't have"]
        if mitigation and benchmark.card.name not in mitigation.of_papers
        else []
    )
    return list(dict.fromkeys((*part, *placeholders, *others, *benchmark.configuring.differs(run.config))))


def _left_out(run: Prepared) -> list[str]:
    n, left_out = max(len(run.rows.rows), run.rows.drawn_from or 0), run.rows.left_out
    return [f"{left_out:,} of {n + left_out:,} rows left out, for they can't be asked"] if left_out else []


def _as_the_papers(run: Prepared, differs: Sequence[str]) -> bool:
    """Whether published figures stand beside a run: it differs in nothing, or in few rows that can't be asked at all.

    Those are named beside the figures: four of the 111 scenarios that a benchmark's authors published, say.
    """
    few = run.rows.left_out <= MOST_LEFT_OUT * (len(run.rows.rows) + run.rows.left_out)
    return not differs or (few and list(differs) == _left_out(run))


def _named(models: Mapping[str, str], alone: bool, origin: str | None) -> str:
    """What was measured, in a line: a model, several by agent, or a file."""
    if not models:
        return origin or "none"
    return next(iter(models.values())) if alone else ", ".join(f"{agent}: {name}" for agent, name in models.items())
