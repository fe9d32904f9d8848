"""The gate: figures of base and candidate, judged one by one, and one verdict over all of them.

Every figure must be shown to be no worse than its margin, each at its own level: where any of them truly is worse, all
pass no more often than that one does (an intersection-union test; Berger 1982). So nothing is adjusted for their
number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.foreign_files import as_written
from evenhand.gating.judgement import Judgement, Verdict, judge, list_judgeable
from evenhand.gating.needs import describe_rows_needed
from evenhand.gating.pairs import RunPair, pair_runs
from evenhand.gating.policy import Policy
from evenhand.report.findings import Findings
from evenhand.report.markdown import markdown, plain
from evenhand.report.tables import Cell, Table, count
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
    policy = policy or Policy()
    base, candidate = Path(base), Path(candidate)
    with as_written(base, candidate):
        found = pair_runs(base, candidate)
        _check_names(found, policy)
        judged = [judgement for pair in found for judgement in judge(pair, policy)]
        if not judged:
            raise UsageError(f"{base} and {candidate} have no figure that could be judged in common")
        needed = [*describe_rows_needed(found, judged)]
    without_utility = all(each.of != "utility" for each in judged)
    lacks_utility = policy.require_utility and without_utility
    verdict = _combine(judged, lacks_utility)
    counts = Counter(each.verdict for each in judged)
    models = (" and ".join(dict.fromkeys(getattr(pair, of).results.model_name for pair in found)) for of in RUNS)
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


def _check_names(found: Sequence[RunPair], policy: Policy) -> None:
    known = [figure.label(row.groups) for pair in found for figure, row in list_judgeable(pair)]
    for name, _ in policy.figures:
        if in_words(name) not in map(in_words, known):
            raise unknown_name("figure", name, known)


def _combine(judged: Sequence[Judgement], lacks_utility: bool) -> Verdict:
    verdicts = {each.verdict for each in judged}
    if "worse" in verdicts:
        return "worse"
    return "pass" if verdicts == {"pass"} and not lacks_utility else "not enough evidence"


def _table(verdict: Verdict, judged: Sequence[Judgement]) -> Table:
    rows = []
    for each in judged:
        digits = 1 if each.margin >= 1 else 3  # as many as the margin needs to be seen
        ends = (each.worse.estimate, each.worse.low, each.worse.high)
        value, low, high = (0.0 if abs(end) < 1e-12 else end for end in ends)
        cells = (
            Cell(f"{each.name}: {each.figure}"), Cell(each.of), Cell(each.base, style="significant"),
            Cell(each.candidate, style="significant"), Cell(value, low, high, digits), Cell(each.margin, digits=digits),
            count(each.worse.n_clusters), Cell(each.verdict),
        )  # fmt: skip
        rows.append(cells)
    columns = ("figure", "of", "base", "candidate", "worse by", "margin", "clusters", "verdict")
    return Table(f"Gate: {verdict}", columns, tuple(rows), NOTE)


def junit(gate: Gate) -> str:
    """A test suite a benchmark, a test case a figure. What is no pass is a failure, of which the type says why."""
    cases = [(each.name, each.figure, each.verdict, each.why) for each in gate.judgements]
    if gate.lacks_utility:
        why = "no figure of use was compared, and the policy demands one"
        cases.append(("utility", "compared at all", "not enough evidence", why))
    suites = ElementTree.Element("testsuites", {"name": MADE_BY})
    for name in dict.fromkeys(name for name, *_ in cases):
        suite = ElementTree.SubElement(suites, "testsuite", {"name": shown(name)})
        for figure, verdict, why in (rest for each, *rest in cases if each == name):
            case = ElementTree.SubElement(suite, "testcase", {"classname": shown(name), "name": shown(figure)})
            if verdict != "pass":
                ElementTree.SubElement(case, "failure", {"type": verdict, "message": shown(f"{verdict}: {why}")})
    for each in (suites, *suites):
        each.set("tests", str(len([*each.iter("testcase")])))
        each.set("failures", str(len([*each.iter("failure")])))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def summary(gate: Gate) -> str:
    """A part of a page: the verdict, each figure, and what to do. Names are shown as text, whatever they hold."""
    first, *others = gate.sentences
    lines = [*others, *(f"Read with care: {warning}." for warning in gate.warnings)]
    head, items = f"<!-- {MADE_BY} -->\n## Bias gate: {gate.verdict}", "\n".join(f"- {plain(line)}" for line in lines)
    return "\n\n".join(filter(None, (head, plain(first), markdown(gate.table), items))) + "\n"
