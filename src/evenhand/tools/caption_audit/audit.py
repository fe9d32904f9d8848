"""The caption audit: which gender terms stand beside which occupations and descriptors in training data.

Jiang et al., section 6 and Table A9. A text is a record (an image-text pair, questions and answers together); an
instance's texts are those that name it, its terms all mentions of Table A2's words in these texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.at_work import SILENT_FOR
from evenhand.bars import Bar
from evenhand.errors import UsageError
from evenhand.row_files.json_values import Skipped
from evenhand.row_files.opening import refuse_twice
from evenhand.row_files.records import SUFFIXES, check
from evenhand.terminal import shown
from evenhand.tools.caption_audit.findings import OVERALL, Audit, File, line
from evenhand.tools.caption_audit.terms import Terms, normal
from evenhand.tools.caption_audit.texts import COLUMNS, texts
from evenhand.tools.caption_audit.word_lists import INSTANCES


def audit(
    paths: Sequence[str | Path],
    instances: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    column: str | None = None,
    plurals: bool = False,
) -> Audit:
    """Count gender terms beside instances in files of captions or conversations, however large.

    paths: JSON (an array), JSONL or parquet. instances: names, or {scenario: names} (default: Table 1's occupations and
    descriptors). column: where texts are (default: the first of conversations, caption, text and value that holds one).
    plurals: regular plurals of instances count, too; the paper's are singular.
    Raises UsageError for no file or instance, and for a file that is none or in which nothing can be used, and
    EvenhandError for one that the system does not let us read.
    """
    files = [Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    if not files:
        raise UsageError(f"no file came; a file that ends in {', '.join(SUFFIXES)} is accepted: name one or more")
    refuse_twice(files, "captions")
    named = _by_scenario(instances)
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
        for text in Bar(texts(path, columns), desc=shown(path.name), unit="text", delay=SILENT_FOR):
            if isinstance(text, Skipped):
                skipped[text] += 1
                continue
            n_texts += 1
            found = terms(text)
            kind = (found.male, found.female)
            overall[kind] += 1
            for place in found.instances:
                by_instance[place][kind] += 1
        if not n_texts:
            raise _nothing_usable(path, skipped, column)
        read.append(File(str(path), n_texts, {each.reason: n for each, n in skipped.most_common()}))
    return Audit(
        overall=line(overall, OVERALL),
        lines=tuple(line(kinds, name, scenario) for kinds, (scenario, name) in zip(by_instance, named)),
        files=tuple(read),
        column=column,
        plurals=plurals,
    )


def _by_scenario(instances: Sequence[str] | Mapping[str, Sequence[str]] | None) -> list[tuple[str, str]]:
    """(scenario, instance) in order, each instance once, whatever its case."""
    if isinstance(instances, str):
        instances = [instances]
    if not isinstance(instances, Mapping):
        instances = INSTANCES if instances is None else {"": instances}
    found: dict[str, tuple[str, str]] = {}
    for scenario, names in instances.items():
        for name in names:
            found.setdefault(normal(name), (scenario, name))
    if not found:
        raise UsageError("no instance came; words are accepted: name one or more, such as 'nurse'")
    return list(found.values())


def _nothing_usable(path: Path, skipped: Counter[Skipped], column: str | None) -> UsageError:
    reasons = (f"{n:,} {each.reason}" + (f" ({each.more})" if each.more else "") for each, n in skipped.most_common())
    came = "; ".join(reasons) or "it is empty"
    accepted = f"a column {column!r}" if column is not None else f"one of the columns {', '.join(COLUMNS)}"
    return UsageError(
        f"{path} has no text to count: {came}. A JSON array (no object around it), JSONL or parquet is accepted, in "
        f"UTF-8, of records with {accepted}: name the column of texts with --column, or mend the file"
    )
