"""The gate: figures of base and candidate, judged one by one, and one verdict over all of them.

Every figure must be shown to be no worse than its margin, each at its own level: where any of them truly is worse, all
pass no more often than that one does (an intersection-union test; Berger 1982). So nothing is adjusted for their
number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.configuration import RunConfig
from evenhand.flow.foreign_files import as_written
from evenhand.flow.rows import n_clusters
from evenhand.gating.judgement import Judgement, Verdict, judge, list_judgeable
from evenhand.gating.pairs import RunPair, pair_runs
from evenhand.gating.policy import Policy
from evenhand.report.findings import Findings
from evenhand.report.markdown import markdown, plain
from evenhand.report.tables import Cell, Table, count, n_of
from evenhand.statistics.non_inferiority import POWER, enough_for_all
from evenhand.statistics.resampling import ROUNDING
from evenhand.terminal import shown
from evenhand.words import in_words

MADE_BY = "evenhand gate"
RUNS = ("candidate", "base")
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "worse": 1, "not enough evidence": 3}
WITHOUT_UTILITY = "no figure of use was compared: a model that lost its use may look less biased"
NOTE = (
    "Worse by: positive is worse, whatever the figure. Brackets: 95 % interval over clusters, paired, on what both "
    "runs answered; its ends count answers that one run alone left unread as the worst and the best that they might "
    "be. A figure passes where the upper end is no more than the margin; it is worse where the lower end is more."
)


@dataclass(frozen=True, kw_only=True)
class Gate(Findings):
    """A verdict, and what it rests on.

    Attributes:
        judgements: figure by figure.
        lacks_utility: whether the policy demands a figure of use, and none is there.
    """

    verdict: Verdict
    judgements: tuple[Judgement, ...]
    lacks_utility: bool

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def table(self) -> Table:
        return self.tables[0]


def gate(base: Path | str, candidate: Path | str, policy: Policy | None = None) -> Gate:
    """Judge whether a candidate's runs are no worse than its base's, by a policy (without one, the default).

    Args:
        base, candidate: two run folders, or two folders that hold runs of the same benchmarks.

    Raises:
        UsageError: for runs that can't be compared, and for a policy that names figures which they don't have.
        EvenhandError: for damaged runs.
    """
    policy, base, candidate = policy or Policy(), Path(base), Path(candidate)
    with as_written(base, candidate):
        pairs = pair_runs(base, candidate)
        known = [figure.label(row.groups) for pair in pairs for figure, row in list_judgeable(pair)]
        for name, _ in policy.figures:
            if in_words(name) not in map(in_words, known):
                raise unknown_name("figure", name, known)
        judged = [judgement for pair in pairs for judgement in judge(pair, policy)]
        if not judged:
            raise UsageError(f"{base} and {candidate} have no figure that could be judged in common")
        needed = [*describe_rows_needed(pairs, judged)]
    without_utility = all(each.of != "utility" for each in judged)
    lacks_utility = policy.require_utility and without_utility
    counts = Counter(each.verdict for each in judged)
    passes = counts["pass"] == len(judged) and not lacks_utility
    verdict: Verdict = "worse" if counts["worse"] else "pass" if passes else "not enough evidence"
    models = (" and ".join(dict.fromkeys(getattr(pair, of).results.model_name for pair in pairs)) for of in RUNS)
    head = f"{' against '.join(models)}, {', '.join(f'{counts[each]} {each}' for each in EXIT_CODES if counts[each])}"
    return Gate(
        title=f"Gate: {verdict}",
        sentences=(
            f"{verdict.capitalize()}: {head}.",
            *(f"{each.name}, “{each.figure}”: {each.why}." for each in judged if each.why),
            *([f"{WITHOUT_UTILITY}; the policy demands one (require_utility)."] if lacks_utility else []),
            *needed,
        ),
        warnings=(WITHOUT_UTILITY,) if without_utility and not lacks_utility else (),
        tables=(_table(verdict, judged),),
        verdict=verdict, judgements=tuple(judged), lacks_utility=lacks_utility,
    )  # fmt: skip


def describe_rows_needed(pairs: Sequence[RunPair], judged: Sequence[Judgement]) -> Iterator[str]:
    """Yield how many rows are enough for each pair of which only the width of intervals prevents a pass.

    Enough: in four of five cases where nothing got worse. A pass needs every figure, so that each must be shown in more
    than four of five cases: rows are such that the shares of all figures multiply to four of five. Each pair of runs
    has a part of that by how many figures are judged of it.
    """
    counted = [each for each in judged if each.enough_clusters or _may_fail_again(each)]
    for pair in pairs:
        of_pair = [each for each in counted if each.name == pair.name]
        if any(each.enough_clusters for each in of_pair):
            share = POWER ** (len(of_pair) / len(counted))
            yield f"{pair.benchmark.card.name}: {_describe_need(pair, of_pair, share)}"


def _may_fail_again(judged: Judgement) -> bool:
    """Return whether a figure that passed could fail with other rows."""
    return judged.verdict == "pass" and 0 < judged.worse.power(judged.room, 1.0) < 1


def _describe_need(pair: RunPair, counted: Sequence[Judgement], power: float) -> str:
    """Return how many rows would be enough for all of counted, in a share `power` of cases; and whether they exist."""
    limit, cluster = pair.base.results.config.get("limit"), pair.benchmark.card.cluster
    n_rows = clusters_there = None
    if limit is not None:
        with suppress(EvenhandError):  # the rows can't be read here
            there = pair.benchmark.load(RunConfig.from_json(pair.base.results.config)).rows
            n_rows, clusters_there = len(there), n_clusters(there, pair.benchmark.card)
    n = max(each.worse.n for each in counted)
    found = [(each.worse, each.room) for each in counted]
    times = enough = enough_for_all(found, power, n, clusters_there)
    if times is None:
        found = [(worse.with_surely_lasting, room) for worse, room in found]
        times = enough_for_all(found, power, n, clusters_there)
    lacking = (each for each in counted if each.enough_clusters)
    most = min(lacking, key=lambda each: each.worse.power(each.room, enough or 1.0, clusters_there))
    if times is None:
        which = "clusters" if clusters_there is None else f"all {n_of(clusters_there, 'cluster')} ({cluster})"
        return f"no number of rows will be enough for “{most.figure}”: {which} differ too much; widen the margin."
    if times <= 1:  # this run was one of the few cases
        more = f"Ask twice as many, --limit {2 * limit}." if limit else "Allow a wider margin."
        return f"these rows are enough in 4 of 5 cases where nothing got worse, but not here, “{most.figure}”. {more}"
    answers, clusters = (math.ceil(times * each - ROUNDING) for each in (most.worse.n, most.worse.n_clusters))
    if clusters_there is not None:
        clusters = min(clusters, max(clusters_there, most.worse.n_clusters))
    needed = (
        f"{'about' if enough else 'at least'} {n_of(answers, 'answer')} in {n_of(clusters, 'cluster')} ({cluster}) "
        f"would be enough for “{most.figure}” in 4 of 5 cases where nothing got worse; these runs have "
        f"{most.worse.n:,} in {most.worse.n_clusters:,}"
    )
    rows = None if limit is None else math.ceil(times * limit - ROUNDING)
    if rows is None or (n_rows is not None and rows > n_rows):
        return f"{needed}, and there are no more rows: allow a wider margin, or ask further configurations."
    return f"{needed}. Run both with --limit {rows}."


def _table(verdict: Verdict, judged: Sequence[Judgement]) -> Table:
    rows = []
    for each in judged:
        digits = 1 if each.margin >= 1 else 3  # as many as the margin needs to be seen
        ends = (each.worse.estimate, each.worse.low, each.worse.high)
        value, low, high = (0.0 if abs(end) < 1e-12 else end for end in ends)
        base, candidate = (Cell(figure, style="significant") for figure in (each.base, each.candidate))
        worse, margin = Cell(value, low, high, digits), Cell(each.margin, digits=digits)
        name, clusters = Cell(f"{each.name}: {each.figure}"), count(each.worse.n_clusters)
        rows.append((name, Cell(each.of), base, candidate, worse, margin, clusters, Cell(each.verdict)))
    columns = ("figure", "of", "base", "candidate", "worse by", "margin", "clusters", "verdict")
    return Table(f"Gate: {verdict}", columns, tuple(rows), NOTE)


def junit(gate: Gate) -> str:
    """Return JUnit's XML: a suite for each benchmark, a case for each figure; what is no pass is a failure."""
    cases = [(each.name, each.figure, each.verdict, each.why) for each in gate.judgements]
    if gate.lacks_utility:
        cases.append(("utility", "compared at all", "not enough evidence", WITHOUT_UTILITY))
    root = ElementTree.Element("testsuites", {"name": MADE_BY})
    names = dict.fromkeys(name for name, *_ in cases)
    suites = {name: ElementTree.SubElement(root, "testsuite", {"name": shown(name)}) for name in names}
    for name, figure, verdict, why in cases:
        case = ElementTree.SubElement(suites[name], "testcase", {"classname": shown(name), "name": shown(figure)})
        if verdict != "pass":
            ElementTree.SubElement(case, "failure", {"type": verdict, "message": shown(f"{verdict}: {why}")})
    for each in (root, *root):
        each.set("tests", str(len([*each.iter("testcase")])))
        each.set("failures", str(len([*each.iter("failure")])))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def summary(gate: Gate) -> str:
    """Return Markdown: the verdict, each figure, and what to do. Names are shown as text, whatever they hold."""
    first, *others = gate.sentences
    lines = [*others, *(f"Read with care: {warning}." for warning in gate.warnings)]
    head, items = f"<!-- {MADE_BY} -->\n## Bias gate: {gate.verdict}", "\n".join(f"- {plain(line)}" for line in lines)
    return "\n\n".join(filter(None, (head, plain(first), markdown(gate.table), items))) + "\n"
