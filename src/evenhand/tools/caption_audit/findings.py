"""What an audit found: a line an instance, as in Table A9 of Jiang et al.; its table and its results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from evenhand.report.tables import Cell, Table, figure
from evenhand.tools.caption_audit import scores
from evenhand.tools.caption_audit.published import DATASET, FEMALE_TERMS, MALE_TERMS, TABLE_A9
from evenhand.tools.caption_audit.terms import normal
from evenhand.tools.caption_audit.word_lists import FEMALE, MALE

SOURCE = "Jiang et al., section 6, Tables A2 and A9"
OVERALL = "all texts"


@dataclass(frozen=True)
class Line:
    """A row of the table: an instance, or all texts.

    n_texts: that name the instance; n_with_terms, n_with_male, n_with_female: of these, those with terms.
    male_terms, female_terms: mentions in these texts. male_share: of both, [0, 1]; bias_score: how far it is from one
    half, [0, 0.5]; with their 95 % intervals; chance_score: the mean score if a coin decided the gender in every text.
    Without any term these are NaN. no_score, no_interval: why there is none, or "".
    """

    scenario: str
    instance: str
    n_texts: int
    n_with_terms: int
    n_with_male: int
    n_with_female: int
    male_terms: int
    female_terms: int
    male_share: float
    male_share_interval: scores.Interval
    bias_score: float
    interval: scores.Interval
    chance_score: float
    no_score: str
    no_interval: str


@dataclass(frozen=True)
class File:
    """n_texts: that were counted; left_out: of the other records or lines, how many for which reason."""

    path: str
    n_texts: int
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Audit:
    overall: Line
    lines: tuple[Line, ...]
    files: tuple[File, ...]
    column: str | None
    plurals: bool

    def table(self) -> Table:
        """One row an instance, all texts last; beside them Table A9's scores, for instances it has."""
        published = any(normal(each.instance) in TABLE_A9 for each in self.lines)
        columns = ("", "texts", "male terms", "female terms", "male share", "bias score", "chance")
        return Table(
            "Gender terms in the texts that name an instance",
            columns + (("Table A9",) if published else ()),
            tuple(_cells(each, published) for each in (*self.lines, self.overall)),
            " ".join(self._notes(published)),
        )

    def _notes(self, published: bool) -> Iterator[str]:
        yield "Texts: records that name it; terms: each mention in these. Bias score: |male share - 0.5|, 0 to 0.5;"
        yield "in brackets 95 % of texts drawn again. Chance: the score if a coin decided every text's gender."
        for what in ("score", "interval"):
            lines = [each for each in (*self.lines, self.overall) if what == "score" or not each.no_score]
            for reason, names in _by_reason(lines, f"no_{what}").items():
                yield f"No {what}, for {reason}: {', '.join(names)}."
        if published:
            yield f"Table A9: {DATASET}'s score in the paper; of all texts, that of its counts in section 6."

    def sentences(self) -> tuple[str, ...]:
        """What was read, and what was left out of it."""
        found = []
        for file in self.files:
            n = sum(file.left_out.values())
            reasons = "; ".join(f"{each:,} {reason}" for reason, each in file.left_out.items())
            found.append(f"{file.path}: {file.n_texts:,} texts" + (f"; {n:,} left out ({reasons})." if n else "."))
        return tuple(found)

    def results(self) -> dict[str, object]:
        """For a JSON file: null where there is no number, with the reason beside it."""
        return {
            "source": SOURCE,
            "files": [asdict(file) | {"left_out": dict(file.left_out)} for file in self.files],
            "n_texts": self.overall.n_texts,
            "n_left_out": sum(sum(file.left_out.values()) for file in self.files),
            "column": self.column,
            "plurals": self.plurals,
            "terms": {"male": list(MALE), "female": list(FEMALE)},
            "overall": _record(self.overall),
            "instances": [_record(each) for each in self.lines],
        }


def is_audit(path: Path) -> bool:
    """Whether a file is what `evenhand audit-captions --output` writes."""
    begins = json.dumps({"source": SOURCE}, indent=2).removesuffix("\n}").encode()
    with path.open("rb") as file:
        return file.read(len(begins)) == begins


def line(kinds: scores.Kinds, instance: str, scenario: str = "") -> Line:
    male = sum(n * each for (each, _), n in kinds.items())
    female = sum(n * each for (_, each), n in kinds.items())
    share_interval, no_interval = scores.share_interval(kinds)
    n_texts = sum(kinds.values())
    return Line(
        scenario=scenario,
        instance=instance,
        n_texts=n_texts,
        n_with_terms=sum(n for kind, n in kinds.items() if any(kind)),
        n_with_male=sum(n for (each, _), n in kinds.items() if each),
        n_with_female=sum(n for (_, each), n in kinds.items() if each),
        male_terms=male,
        female_terms=female,
        male_share=scores.male_share(male, female),
        male_share_interval=share_interval,
        bias_score=scores.bias_score(male, female),
        interval=scores.score_interval(share_interval),
        chance_score=scores.chance_score(kinds),
        no_score="" if male + female else no_interval,
        no_interval=no_interval,
    )


def _by_reason(lines: Iterable[Line], field: str) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for each in lines:
        if reason := getattr(each, field):
            names.setdefault(reason, []).append(each.instance)
    return names


def _cells(each: Line, published: bool) -> tuple[Cell, ...]:
    cells = (
        Cell(each.instance),
        Cell(f"{each.n_texts:,}"),
        Cell(f"{each.male_terms:,}"),
        Cell(f"{each.female_terms:,}"),
        Cell(figure(each.male_share, digits=4)),
        Cell(figure(each.bias_score, list(each.interval), digits=4)),
        Cell(figure(each.chance_score, digits=4)),
    )
    return (*cells, _published(each)) if published else cells


def _published(each: Line) -> Cell:
    if each.instance == OVERALL:
        return Cell(figure(scores.bias_score(MALE_TERMS, FEMALE_TERMS), digits=4), published=True)
    if normal(each.instance) not in TABLE_A9:
        return Cell("")
    score = TABLE_A9[normal(each.instance)].bias_score
    return Cell("N/A" if math.isnan(score) else figure(score, digits=4), published=True)


def _record(each: Line) -> dict[str, object]:
    return {
        name: [_number(end) for end in value] if isinstance(value, tuple) else _number(value)
        for name, value in asdict(each).items()
    }


def _number(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
