"""The caption audit: which gender terms occur with which occupations and descriptors in training data.

Jiang et al., section 6 and Table A9. A text is a record (an image-text pair, questions and answers together). An
instance's texts are those that name it; its terms are all mentions of Table A2's words in these texts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from evenhand.errors import UsageError
from evenhand.flow.results import without_nan
from evenhand.progress import SILENT_FOR, Bar
from evenhand.report.tables import Cell, Table, count
from evenhand.row_files.json_values import Skipped
from evenhand.row_files.opening import refuse_twice
from evenhand.row_files.records import SUFFIXES, check
from evenhand.terminal import shown
from evenhand.tools.caption_audit import scores
from evenhand.tools.caption_audit.terms import COLUMNS, FEMALE, INSTANCES, MALE, Terms, normalize, read_texts

SOURCE = "Jiang et al., section 6, Tables A2 and A9"
OVERALL = "all texts"
# Table A9: LCS-558K, on which LLaVA-v1.5 was pre-trained. A chef's score is 0.862 in print, a slip: 34 and 24 terms
# give 0.0862, and 0.5 is the most. Of all texts (about 558,000) section 6 prints counts and no score.
TABLE_A9 = pd.read_csv(Path(__file__).with_name("table_a9.csv"), index_col="instance")
MALE_TERMS, FEMALE_TERMS = 27_837, 30_958


@dataclass(frozen=True)
class Line:
    """Figures of an instance, or of all texts.

    Attributes:
        n_texts: texts that name the instance; n_with_terms, n_with_male, n_with_female: those of them with such terms.
        male_terms, female_terms: mentions in these texts.
        male_share: of both, [0, 1]; bias_score: its distance from one half, [0, 0.5]; both with 95 % intervals.
        chance_score: the mean score if a coin decided the gender in every text. NaN without any term, as the others.
        no_score, no_interval: why there is none, or "".
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
    """n_texts: texts that were counted; left_out: {reason: number of other records}."""

    path: str
    n_texts: int
    left_out: Mapping[str, int]

    def describe_left_out(self) -> str:
        reasons = "; ".join(f"{n:,} {reason}" for reason, n in self.left_out.items())
        return f"; {sum(self.left_out.values()):,} left out ({reasons})" if reasons else ""


@dataclass(frozen=True)
class Audit:
    overall: Line
    lines: tuple[Line, ...]
    files: tuple[File, ...]
    column: str | None
    plurals: bool

    def table(self) -> Table:
        """Show one row an instance, all texts last, with Table A9's scores for instances that it has."""
        published = any(normalize(each.instance) in TABLE_A9.index for each in self.lines)
        columns = ("", "texts", "male terms", "female terms", "male share", "bias score", "chance")
        rows = []
        for each in (*self.lines, self.overall):
            counts = map(count, (each.n_texts, each.male_terms, each.female_terms))
            share, chance = (Cell(number, digits=4) for number in (each.male_share, each.chance_score))
            row = (Cell(each.instance), *counts, share, Cell(each.bias_score, *each.interval, digits=4), chance)
            rows.append((*row, _published_score(each.instance)) if published else row)
        title = "Gender terms in the texts that name an instance"
        return Table(title, columns + ("Table A9",) * published, tuple(rows), " ".join(self._notes(published)))

    def _notes(self, published: bool) -> Iterator[str]:
        yield "Texts: records that name it; terms: each mention in these. Bias score: |male share - 0.5|, 0 to 0.5,"
        yield "with its 95 % bootstrap interval over texts. Chance: the score if a coin decided every text's gender."
        lines = (*self.lines, self.overall)
        reasons = [("No score", each.no_score, each.instance) for each in lines]
        reasons += [("No interval", each.no_interval, each.instance) for each in lines if not each.no_score]
        for what, reason in dict.fromkeys((what, reason) for what, reason, _ in reasons if reason):
            yield f"{what}, for {reason}: {', '.join(name for *why, name in reasons if why == [what, reason])}."
        if published:
            yield "Table A9: LCS-558K's score in the paper; of all texts, that of its counts in section 6."

    def sentences(self) -> tuple[str, ...]:
        """Report what was read, and what was left out."""
        return tuple(f"{each.path}: {each.n_texts:,} texts{each.describe_left_out()}." for each in self.files)

    def results(self) -> dict[str, object]:
        """Return what a JSON file holds: null where there is no number, with the reason next to it."""
        return {
            "source": SOURCE,
            "files": [asdict(file) for file in self.files],
            "n_texts": self.overall.n_texts,
            "n_left_out": sum(sum(file.left_out.values()) for file in self.files),
            "column": self.column,
            "plurals": self.plurals,
            "terms": {"male": list(MALE), "female": list(FEMALE)},
            "overall": without_nan(asdict(self.overall)),
            "instances": [without_nan(asdict(each)) for each in self.lines],
        }


def audit(
    paths: Sequence[str | Path],
    instances: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    column: str | None = None,
    plurals: bool = False,
) -> Audit:
    """Count gender terms near instances in files of captions or conversations of any size.

    Args:
        paths: JSON (an array), JSONL or parquet files.
        instances: names, or {scenario: names} (default: Table 1's occupations and descriptors).
        column: where texts are (default: the first of conversations, caption, text and value that has one).
        plurals: count regular plurals of instances, too; the paper's are singular.

    Raises:
        UsageError: for no file or instance, and for a file in which nothing can be used.
        EvenhandError: for a file that can't be opened.
    """
    files = [Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    if not files:
        raise UsageError(f"no file given; name one or more that end in {', '.join(SUFFIXES)}")
    refuse_twice(files, "captions")
    named = _list_instances(instances)
    terms = Terms([instance for _, instance in named], plurals)
    columns = COLUMNS if column is None else (column,)
    for path in files:
        check(path, columns, "captions")
    overall: Counter[tuple[int, int]] = Counter()
    by_instance: list[Counter[tuple[int, int]]] = [Counter() for _ in named]
    read = []
    for path in files:
        n_texts = 0
        skipped: Counter[Skipped] = Counter()
        for text in Bar(read_texts(path, columns), desc=shown(path.name), unit="text", delay=SILENT_FOR):
            if isinstance(text, Skipped):
                skipped[text] += 1
                continue
            n_texts += 1
            male, female, places = terms(text)
            for counter in (overall, *(by_instance[place] for place in places)):
                counter[male, female] += 1
        if not n_texts:
            expected = f"a JSON array, JSONL or parquet, in UTF-8, of records with a column {' or '.join(columns)}"
            why = "; ".join(
                f"{n:,} {each.reason}{each.more and f' ({each.more})'}" for each, n in skipped.most_common()
            )
            raise UsageError(f"{path} has no text to count: {why or 'it is empty'}. Expected {expected}; see --column")
        read.append(File(str(path), n_texts, {each.reason: n for each, n in skipped.most_common()}))
    lines = tuple(make_line(kinds, name, scenario) for kinds, (scenario, name) in zip(by_instance, named))
    return Audit(make_line(overall, OVERALL), lines, tuple(read), column, plurals)


def is_audit(path: Path) -> bool:
    """Whether a file is what `evenhand audit-captions --output` writes."""
    begins = json.dumps({"source": SOURCE}, indent=2).removesuffix("\n}").encode()
    with path.open("rb") as file:
        return file.read(len(begins)) == begins


def make_line(kinds: scores.Kinds, instance: str, scenario: str = "") -> Line:
    male, female = (sum(n * kind[place] for kind, n in kinds.items()) for place in (0, 1))
    share_interval, no_interval = scores.share_interval(kinds)
    return Line(
        scenario=scenario,
        instance=instance,
        n_texts=sum(kinds.values()),
        n_with_terms=sum(n for kind, n in kinds.items() if any(kind)),
        n_with_male=sum(n for kind, n in kinds.items() if kind[0]),
        n_with_female=sum(n for kind, n in kinds.items() if kind[1]),
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


def _list_instances(instances: Sequence[str] | Mapping[str, Sequence[str]] | None) -> list[tuple[str, str]]:
    """List (scenario, instance) in order, each instance once, whatever its case."""
    if not isinstance(instances, Mapping):
        words = [instances] if isinstance(instances, str) else instances
        instances = INSTANCES if words is None else {"": words}
    found: dict[str, tuple[str, str]] = {}
    for scenario, names in instances.items():
        for name in names:
            found.setdefault(normalize(name), (scenario, name))
    if not found:
        raise UsageError("no instance given; name one or more, such as 'nurse'")
    return list(found.values())


def _published_score(instance: str) -> Cell:
    if instance == OVERALL:
        return Cell(scores.bias_score(MALE_TERMS, FEMALE_TERMS), digits=4, published=True)
    if normalize(instance) not in TABLE_A9.index:
        return Cell("")
    return Cell(float(TABLE_A9.bias_score[normalize(instance)]), digits=4, published=True, missing="N/A")
