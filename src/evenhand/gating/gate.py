"""The gate: figures of base and candidate, judged one by one, and one verdict over all of them.

Every figure must be shown to be no worse than its margin, each at its own level: where any of them truly is worse, all
pass no more often than that one does (an intersection-union test; Berger 1982). So nothing is adjusted for their
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.foreign_files import as_written
from evenhand.gating.judgement import Judgement, Verdict, judgeable, judgements, measured
from evenhand.gating.needs import rows_needed
from evenhand.gating.pairs import RunPair, pairs
from evenhand.gating.policy import Policy
from evenhand.report.findings import Run
from evenhand.report.tables import Cell, Table, count
from evenhand.words import in_words

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "worse": 1, "not enough evidence": 3}
WITHOUT_UTILITY = "no figure of use was compared: a model that lost its use may look less biased"


@dataclass(frozen=True)
class Gate:
    """judgements: figure by figure. needs: sentences on how many rows would be enough, where some would be."""

    base: str
    candidate: str
    judgements: tuple[Judgement, ...]
    policy: Policy
    needs: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        verdicts = {each.verdict for each in self.judgements}
        if "worse" in verdicts:
            return "worse"
        return "pass" if verdicts == {"pass"} and not self.lacks_utility else "not enough evidence"

    @property
    def lacks_utility(self) -> bool:
        """Whether the policy demands a figure of use, and none is there."""
        return self.policy.require_utility and self.without_utility

    @property
    def without_utility(self) -> bool:
        return all(each.of != "utility" for each in self.judgements)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, and what stands in the way of a pass."""
        counts = {verdict: sum(each.verdict == verdict for each in self.judgements) for verdict in EXIT_CODES}
        told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
        head = f"{self.verdict.capitalize()}: {self.candidate} against {self.base}, {told}."
        why = [f"{each.name}, “{each.figure}”: {each.why}." for each in self.judgements if each.why]
        lacks = [f"{WITHOUT_UTILITY}; the policy demands one (require_utility)."] if self.lacks_utility else []
        return (head, *why, *lacks, *self.needs)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (WITHOUT_UTILITY,) if self.without_utility and not self.lacks_utility else ()

    @property
    def table(self) -> Table:
        rows = tuple(map(_row, self.judgements))
        note = (
            "Worse by: positive is worse, whatever the figure. Brackets: 95 % interval over clusters, paired, on what "
            "both runs answered; its ends count answers that one run alone left unread as the worst and the best that "
            "they might be. A figure passes where the upper end is no more than the margin; it is worse where the "
            "lower end is more."
        )
        return Table(
            f"Gate: {self.verdict}",
            ("figure", "of", "base", "candidate", "worse by", "margin", "clusters", "verdict"),
            rows,
            note,
        )


def gate(base: Path | str, candidate: Path | str, policy: Policy | None = None) -> Gate:
    """Whether a candidate's runs are no worse than its base's, by a policy (the default one where none is given).

    base, candidate: two run folders, or two folders that hold runs of the same benchmarks. Raises UsageError for runs
    that can't be compared, and for a policy that names figures which they don't have; EvenhandError for damaged runs.
    """
    policy = policy or Policy()
    base, candidate = Path(base), Path(candidate)
    with as_written(base, candidate):
        found = pairs(base, candidate)
        _check_names(found, policy)
        judged = judgements([each for pair in found for each in measured(pair, policy)], policy)
        if not judged:
            raise UsageError(f"{base} and {candidate} have no figure that could be judged in common")
        names = _names(pair.base for pair in found), _names(pair.candidate for pair in found)
        needs = tuple(rows_needed(found, judged))
    return Gate(names[0], names[1], tuple(judged), policy, needs)


def _names(runs: Iterable[Run]) -> str:
    return " and ".join(dict.fromkeys(run.results.model_name for run in runs))


def _check_names(found: Sequence[RunPair], policy: Policy) -> None:
    known = [figure.label(row.groups) for pair in found for figure, row in judgeable(pair)]
    for name, _ in policy.figures:
        if in_words(name) not in map(in_words, known):
            raise unknown_name("figure", name, known)


def _row(each: Judgement) -> tuple[Cell, ...]:
    worse, digits = each.worse, 1 if each.margin >= 1 else 3  # as many as the margin needs to be seen
    return (
        Cell(f"{each.name}: {each.figure}"),
        Cell(each.of),
        Cell(each.base, style="significant"),
        Cell(each.candidate, style="significant"),
        Cell(_rounded(worse.estimate), _rounded(worse.low), _rounded(worse.high), digits),
        Cell(each.margin, digits=digits),
        count(worse.n_clusters),
        Cell(each.verdict),
    )


def _rounded(value: float) -> float:
    return 0.0 if abs(value) < 1e-12 else value
