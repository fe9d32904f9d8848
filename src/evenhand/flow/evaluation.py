"""Run a benchmark: rows to episodes to predictions to scores to a report, in one run folder."""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.answers.unread import describe_unread
from evenhand.benchmark import Benchmark, Configuring, Helper, Rows
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import FigureTable, Sample, figure_rows
from evenhand.flow.configuration import NEEDS, RunConfig, check_loading, check_writing, chosen_protocol, differences
from evenhand.flow.episode import Episode, record_exchanges
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
from evenhand.models.request import Reply
from evenhand.models.template_settings import TemplateSettings, today
from evenhand.progress import SILENT_FOR, ProgressBar, write_line
from evenhand.report.layout import make_findings
from evenhand.report.pages import ReportedRun, write_report

if TYPE_CHECKING:
    import datasets

    from evenhand.report.findings import Findings

logger = logging.getLogger(__name__)

OnProgress = Callable[[int, Step], None]
"""Called with the number of episodes in all, and each step."""

RUNS = Path("runs")
ROWS_AT_ONCE = 500  # of text; those with pictures are decoded one by one
LEAST_MASS = 0.1  # of all options together, on average
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
        """Yield the episodes of all rows in all runs."""
        for run in range(self.config.n_runs):
            yield from self.episodes(self.rows.rows, run)


def evaluate(
    config: RunConfig[Any],
    output: Path | None = None,
    model: Model | None = None,
    on_progress: OnProgress | None = None,
    load: LoadModel | None = None,
    new: bool = False,
) -> ReportedRun:
    """Run a benchmark to its end and leave its folder; an interrupted run resumes.

    Args:
        output: the run folder; by default `default_folder`'s.
        model: answers instead of those that the configuration names.
        on_progress: called with the number of episodes and each step, instead of a progress bar.
        load: loads models elsewhere.
        new: begin another default folder.

    Raises:
        UsageError: for what does not fit.
        EvenhandError, ModelError: where the run can't go on; replies so far are stored.
    """
    if not isinstance(config, RunConfig):
        raise UsageError(f"expected a configuration as evenhand.run_config(benchmark, model, …) makes, got {config!r}")
    if output is not None:
        output = Path(output)
        RunFolder(output).refuse_occupied()
    with ExitStack() as stack:
        progress = on_progress or stack.enter_context(ProgressBar(config.benchmark, SILENT_FOR)).update
        run = None
        if output is None:
            run = prepare(config, model, load)
            output = default_folder(run, new, dated=config.date is not None)
            write_line(f"Run folder: {output}")
        config = keep_date(config, RunFolder(output))
        if run is None or config.date not in (None, run.config.date):
            run = prepare(config, model, load)
        identities = {agent: each.identity for agent, each in run.models.items()}
        folder = stack.enter_context(RunFolder.begin(output, run.config))
        store = stack.enter_context(Store(folder.store, identities))
        before, begun = folder.begun(), folder.extend(run.config)
        written = folder.results.stat().st_mtime if folder.results.is_file() else None
        if written is None or begun != before:
            _warn_of_near_ties(run, before)
        n_episodes, known = len(run.rows.rows) * run.config.n_runs, len(store)
        progress(n_episodes, Step())
        tolerance = Tolerance(run.config.max_failed, n_episodes)
        runner = Runner(run.models, store, lambda step: progress(n_episodes, step), tolerance)
        try:
            folder.write_predictions(chain.from_iterable(runner.run(map(record_exchanges, run.all_episodes()))))
        except ModelError as error:
            goes_on = f" {len(store):,} replies are stored; the same command goes on from here and asks nothing twice."
            ended: type[Exception] = EvenhandError if isinstance(error, LimitReached) else ModelError
            raise ended(f"{str(error).rstrip('.')}.{goes_on if len(store) else ''}") from error
        progress(n_episodes, Step(doing="scoring"))
        sample = run.benchmark.sample(folder.read_predictions())
        results = folder.write_results(_results(run, begun, sample, store, runner.failures))
        asked = len(store) > known
        store.finish(time.time() if asked or written is None else written, asked)
        progress(n_episodes, Step(doing="writing the report"))
        findings = make_findings(run.benchmark, sample.rows, results)
        _keep_pictures(folder, run, findings)
        write_report(folder, found=(results, findings))
        took = (each.took for each in run.models.values() if isinstance(each, SaysWhatItTook))
        progress(n_episodes, Step(took=tuple(dict.fromkeys(took))))
    reported = ReportedRun(folder.path)
    reported.found = (results, findings)
    return reported


def default_folder(run: Prepared, new: bool = False, dated: bool = True) -> Path:
    """Return runs/BENCHMARK-MODEL-NUMBER: the newest in which this run resumes, or the next.

    Args:
        new: return the next.
        dated: whether the run must have the same date for chat templates.
    """
    models = "-".join(dict.fromkeys(each.name for each in run.measured.values())) or run.rows.origin or "none"
    name = f"{run.benchmark.card.name}-{re.sub(r'[^A-Za-z0-9.]+', '-', models).strip('-.')[-80:] or 'model'}"
    numbers = [
        int(found[1])
        for each in RUNS.glob(f"{name}-*")
        if (found := re.fullmatch(rf"{re.escape(name)}-(\d{{1,9}})", each.name))
    ]
    for number in [] if new else sorted(numbers, reverse=True):
        folder = RunFolder(RUNS / f"{name}-{number}")
        with suppress(EvenhandError):
            folder.refuse_other(run.config if dated else keep_date(replace(run.config, date=None), folder))
            return folder.path
    return RUNS / f"{name}-{max(numbers, default=0) + 1}"


def prepare(config: RunConfig[Any], model: Model | None = None, load: LoadModel | None = None) -> Prepared:
    """Load models and rows, and put defaults where nothing was chosen. Raises UsageError for what doesn't fit."""
    benchmark, date = get_benchmark(config.benchmark), config.date
    config = replace(config, date=date or today())  # the same for all models
    configuring = benchmark.configuring
    filled = configuring.filled(config)
    _check(benchmark, config, filled)
    mitigation = chosen_mitigation(filled)
    further = mitigation.agents(filled.mitigation_options) if mitigation else {}
    named = configuring.measured(filled)
    if model is not None and not named:
        raise UsageError("a model was given, but this run scores what exists and asks none: leave it out")
    if model is None and named:
        check_loading(config, named.values(), further.values())
    options = options_by_model([*(() if model else named.values()), *further.values()], dict(filled.model_options))

    def load_named(name: str, revision: str | None = None) -> Model:
        loaded: Model = (load or load_model)(
            name,
            dtype=filled.dtype,
            batch_size=filled.batch_size,
            revision=revision,
            pictures=benchmark.card.sees,
            options=options[name],
            alone=len(options) == 1,
            template=TemplateSettings.of(filled),
        )
        return loaded

    rows = drawn_rows(benchmark, filled)
    loaded = {name: model or load_named(name, filled.revision) for name in dict.fromkeys(named.values())}
    measured = {agent: loaded[name] for agent, name in named.items()}
    by_default = filled.protocol
    filled, notes = _suit(benchmark, config, filled, measured)
    if filled.protocol != by_default:  # which may read other rows
        rows = drawn_rows(benchmark, filled)
    helpers = configuring.helpers(filled.options)
    models = {
        **measured,
        **{agent: helper.model for agent, helper in helpers.items()},
        **{agent: load_named(name) for agent, name in further.items()},
    }
    filled = record_date(replace(filled, date=date), models.values())
    return Prepared(benchmark, mitigation, filled, rows, measured, models, helpers, (*notes, *rows.notes))


def _check(benchmark: Benchmark[Any], config: RunConfig[Any], filled: RunConfig[Any]) -> None:
    """Raise UsageError for what fits no protocol; the models decide later which is used."""
    errors = []
    for protocol in [config.protocol] if config.protocol else benchmark.card.protocols:
        try:
            benchmark.configuring.check(replace(filled, protocol=protocol).repeated(benchmark.card, config.runs))  # type: ignore[arg-type]
            break
        except UsageError as error:
            errors.append(error)
    else:
        raise errors[0]
    if filled.protocol not in benchmark.card.protocols:
        accepted = " or ".join(benchmark.card.protocols)
        raise UsageError(f"--protocol {filled.protocol} is none of {benchmark.card.name}'s: expected {accepted}")


def _suit(
    benchmark: Benchmark[Any], config: RunConfig[Any], filled: RunConfig[Any], measured: Mapping[str, Model]
) -> tuple[RunConfig[Any], tuple[str, ...]]:
    """Fill the configuration with a protocol that every measured model can, and note how options are scored."""
    filled = benchmark.configuring.filled(config, measured)
    if not measured:
        return filled, ()
    can = frozenset.intersection(*(each.can for each in measured.values()))
    name = " and ".join(dict.fromkeys(each.name for each in measured.values()))
    ways = {each.name: each.scoring_way for each in measured.values() if isinstance(each, SaysHowItScores)}
    protocol, note = chosen_protocol(benchmark.card, config, can, name, "; ".join(ways.values()))
    filled = replace(filled, protocol=protocol).repeated(benchmark.card, config.runs)  # type: ignore[arg-type]
    benchmark.configuring.check(filled, measured)
    check_writing(config, filled, benchmark.configuring.filled(RunConfig(config.benchmark, options=config.options)))
    if protocol == "choose" and "choose" not in can:
        ways = {}  # named at the end, with what was found
        for model in measured.values():
            if isinstance(model, ScoresOneToken):
                model.check_one_token()
    scored = "; ".join(f"{name}: {way}" for name, way in ways.items())
    writes = NEEDS[protocol] != "choose"  # type: ignore[index]
    return filled, (f"{note} ({scored})" if scored and writes else note,) if note else ()


def _keep_pictures(folder: RunFolder, run: Prepared, findings: Findings) -> None:
    """Keep pictures of the report's examples, so that the report can be written again wherever the folder goes."""
    shown = {example.picture for example in findings.examples} - {None}
    for place, name in enumerate(run.rows.rows["id"] if shown else ()):
        if name in shown:
            requests = run.benchmark.ask(run.rows.rows[place], run.config.asking(0))
            images = [image for request in requests for message in request.messages for image in message.images]
            folder.keep_picture(name, images[0].data)


def _warn_of_near_ties(run: Prepared, begun: Mapping[str, Any]) -> None:
    """Warn where a run resumes with other batches and its models compute in so few digits that it may matter."""
    asked = json.loads(json.dumps(run.config.to_json()))
    kept, given = (
        {name: each.get(name) for name in ("batch_size", "model_options", *GROWING)} for each in (begun, asked)
    )
    # A local model's identity has its dtype behind its name.
    rough = {
        each.name
        for each in run.models.values()
        if each.whole_calls and {"float16", "bfloat16"} & set(each.identity.split())
    }
    if (changed := differences(kept, given)) and rough:
        logger.warning(
            "The run was begun with %s. %s computes in 16 bits: where two answers are nearly as likely, another may be "
            "taken than without this change (with --dtype float32 none is).",
            "; ".join(changed),
            " and ".join(sorted(rough)),
        )


def _results(
    run: Prepared, begun: dict[str, Any], sample: Sample, store: Store, failures: Mapping[str, int]
) -> Results:
    benchmark, measured = run.benchmark, run.measured
    figures = FigureTable(figure_rows(benchmark.figures, sample))
    warnings = tuple(_warnings(run, sample, figures, store, failures))
    differs = _differs(run, any(each.code == "rehearsal" for each in warnings))
    main = benchmark.main_rows(figures)
    published = benchmark.configuring.published(replace(run.config, limit=None))
    return Results(
        schema_version=SCHEMA_VERSION,
        benchmark=benchmark.card.name,
        config=begun,
        model=run.config.model,
        model_name=_join_names({agent: each.name for agent, each in measured.items()}, run.rows.origin),
        model_identity=_join_names({agent: each.identity for agent, each in measured.items()}, run.rows.origin),
        agents={agent: each.identity for agent, each in run.models.items()},
        helpers=[
            {"name": each.name, "identity": each.model.identity, "trained": dict(each.record)}
            for each in run.helpers.values()
        ],
        n=sum(row.n for row in main),
        n_read=sum(row.n_read for row in main),
        figures=figures,
        warnings=warnings,
        published=published if _as_the_papers(run, differs) else [],
        versions=versions("" if run.rows.sha256 else benchmark.card.dataset),
        rows_sha256=run.rows.sha256,
        differs=differs,
    )


def mean_mass(scored: Iterable[Reply]) -> float:
    """Return the mean probability that all options of a request have together; NaN where none was scored."""
    total, n = 0.0, 0
    for each in scored:
        mass = sum(math.exp(sum(tokens)) for tokens in each.choice_log_probs)
        if each.choice_log_probs and not math.isnan(mass):
            total, n = total + mass, n + 1
    return total / n if n else math.nan


def _warnings(
    run: Prepared, sample: Sample, figures: FigureTable, store: Store, failures: Mapping[str, int]
) -> Iterator[RunWarning]:
    """Warn of how rows were asked, what models say, failed requests, and what the figures show."""
    config, measured = run.config, run.measured.values()
    writes = NEEDS.get(config.protocol or "generate") == "generate"
    yield from (RunWarning("note", note) for note in run.notes)
    if not writes:
        scoring = [each for each in measured if isinstance(each, SaysHowItScores) and "choose" in each.can]
        for way in dict.fromkeys(each.scoring_way for each in scoring):
            yield RunWarning("scored_by", f"options were scored by {way}")
        templates = [each for each in measured if isinstance(each, HasChatTemplate)]
        for note in dict.fromkeys(note for each in templates for note in each.template_notes):
            yield RunWarning("scored_after", note)
    yield from (RunWarning(code, text) for code, text in store.warnings())
    for model in dict.fromkeys(measured):
        if config.protocol == "choose" and isinstance(model, ScoresOneToken):
            yield from (RunWarning(code, text) for code, text in model.score_warnings(store.scored()))
    mass = math.nan if config.protocol == "rank" else mean_mass(store.scored())
    if mass < LEAST_MASS:
        yield RunWarning(
            "options_unlikely",
            f"the options have {mass:.1%} of the probability on average: the model mostly wants to say something else "
            "there, such as a thought; --protocol generate shows what",
        )
    if failures:
        yield RunWarning("failed_requests", failures_in_words(failures) + ": unread")
    texts, cut_off = store.count_texts()
    if cut_off:
        yield RunWarning(
            "thought_cut_off",
            f"{cut_off:,} of {texts:,} texts ended within a thought, without an answer: unread. Raise --max-new-tokens "
            f"(now {config.max_new_tokens}), or turn thinking off (--template-option enable_thinking=false, where the "
            "model's chat template has it)",
        )
    yield from figure_warnings(run.benchmark, figures)
    ways = [f"--protocol {each}" for each in run.benchmark.card.protocols if each != config.protocol]
    if getattr(config.options, "constrain", True) is False:
        ways.append("--constrain")
    if unread := describe_unread(sample.rows, ways):
        yield RunWarning("unread", unread)
    if writes:
        notes = [note for each in run.models.values() if isinstance(each, HasNotes) for note in each.notes.items()]
        yield from (RunWarning(code, text) for code, text in dict.fromkeys(notes))
    yield from run.benchmark.warnings(sample.rows, figures, config)


def _differs(run: Prepared, rehearsal: bool) -> list[str]:
    """Describe how a run differs from the paper's; empty for a benchmark without published figures."""
    benchmark = run.benchmark
    if benchmark.Configuring.published is Configuring.published and not published_beside(type(benchmark)):
        return []
    n, whole = len(run.rows.rows), run.rows.drawn_from or 0
    found = [f"only {n:,} of {whole:,} rows"] if n < whole else []
    found += _left_out(run)
    if rehearsal:
        found.append("placeholders in place of data")
    if run.mitigation and benchmark.card.name not in run.mitigation.of_papers:
        found.append(f"mitigation {run.mitigation.name}, which the paper doesn't have")
    return list(dict.fromkeys((*found, *benchmark.configuring.differs(run.config), *run.rows.differs)))


def _left_out(run: Prepared) -> list[str]:
    n, left_out = max(len(run.rows.rows), run.rows.drawn_from or 0), run.rows.left_out
    return [f"{left_out:,} of {n + left_out:,} rows left out, for they can't be asked"] if left_out else []


def _as_the_papers(run: Prepared, differs: Sequence[str]) -> bool:
    """Whether published figures are shown with a run: it differs in nothing, or in few rows that can't be asked.

    Those are named beside the figures: four of the 111 scenarios that a benchmark's authors published, say.
    """
    few = run.rows.left_out <= MOST_LEFT_OUT * (len(run.rows.rows) + run.rows.left_out)
    return not differs or (few and list(differs) == _left_out(run))


def _join_names(models: Mapping[str, str], origin: str | None) -> str:
    """Name what was measured in one line: a model, several by agent, or a file."""
    if len(models) < 2:
        return next(iter(models.values()), origin or "none")
    return ", ".join(f"{agent}: {name}" for agent, name in models.items())
