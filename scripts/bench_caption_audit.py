"""How fast the caption audit reads and counts, and in how much memory.

Made-up captions (seeded) in LLaVA's layout, a fifth of them with a gender term and a twelfth with an instance. Counted
in one pass of one regular expression, and, as the baseline, with a regular expression of its own for every word; then
whole files, JSON, JSONL and parquet. LCS-558K has 558,000 texts.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benching import Line, measured, peak_memory, per_second, seconds

from evenhand.command_line import ScriptHelp, whole
from evenhand.tools.caption_audit.audit import audit
from evenhand.tools.caption_audit.terms import FEMALE, MALE, Found, Terms, text_of
from evenhand.tools.caption_audit.terms import INSTANCES as BY_SCENARIO

Record = dict[str, object]

LCS_558K = 558_000
INSTANCES = [name for names in BY_SCENARIO.values() for name in names]
QUESTION = "Provide a brief description of the given image.\n<image>"
OTHER_WORDS = (
    "a", "the", "in", "on", "of", "with", "and", "is", "two", "standing", "wearing", "holding", "red", "blue", "white",
    "background", "vector", "illustration", "photo", "people", "person", "street", "city", "house", "kitchen", "table",
    "car", "dog", "tree", "flowers", "water", "beautiful", "young", "modern", "design", "portrait", "woods",
)  # fmt: skip


def synthetic_records(texts: int, rng: np.random.Generator) -> list[Record]:
    records: list[Record] = []
    for number in range(texts):
        words = rng.choice(OTHER_WORDS, size=rng.integers(6, 18)).tolist()
        if rng.random() < 1 / 5:
            words.insert(len(words) // 2, str(rng.choice([*MALE, *FEMALE])))
        if rng.random() < 1 / 12:
            words.insert(2, str(rng.choice(INSTANCES)))
        turns = [{"from": "human", "value": QUESTION}, {"from": "gpt", "value": " ".join(words).capitalize()}]
        records.append({"id": f"{number:09}", "image": f"{number:09}.jpg", "conversations": turns})
    return records


def one_expression_a_word() -> Callable[[str], Found]:
    """The straightforward way: every word is sought in every text."""
    male, female, instances = (
        [re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE) for word in words] for words in (MALE, FEMALE, INSTANCES)
    )

    def count(text: str) -> Found:
        return Found(
            sum(len(word.findall(text)) for word in male),
            sum(len(word.findall(text)) for word in female),
            frozenset(place for place, word in enumerate(instances) if word.search(text)),
        )

    return count


def count_all(count: Callable[[str], Found], texts: list[str]) -> list[Found]:
    return [count(text) for text in texts]


def write_files(records: list[Record], folder: Path) -> list[Path]:
    paths = [folder / f"captions.{suffix}" for suffix in ("json", "jsonl", "parquet")]
    paths[0].write_text(json.dumps(records))
    paths[1].write_text("\n".join(map(json.dumps, records)))
    pq.write_table(pa.Table.from_pylist(records), paths[2], row_group_size=10_000)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--texts", type=whole(), default=50_000, help="captions")
    parser.add_argument("--rounds", type=whole(), default=1, help="of timing")
    measured(parser, measure)


def measure(given: argparse.Namespace) -> Iterator[Line]:
    records = synthetic_records(given.texts, np.random.default_rng(0))
    texts = [str(text_of(record)) for record in records]
    one_pass, every_word = Terms(INSTANCES), one_expression_a_word()
    assert count_all(one_pass, texts) == count_all(every_word, texts)

    plain = seconds(partial(count_all, every_word, texts), given.rounds)
    times = {
        "counting, one expression a word": plain,
        "counting, one expression": seconds(partial(count_all, one_pass, texts), given.rounds),
    }
    length, memory = np.mean(list(map(len, texts))), peak_memory()
    print(f"{given.texts:,} texts of {length:.0f} characters; peak memory so far: {memory:,.0f} MiB")
    with tempfile.TemporaryDirectory() as folder:
        for path in write_files(records, Path(folder)):
            times[f"the whole audit, {path.suffix}"] = seconds(partial(audit, [path]), given.rounds)
    for name, took in times.items():
        rate = given.texts / min(took)
        print(
            f"  {name:34} {rate:10,.0f} texts/s {min(plain) / min(took):6.1f} x the first's speed; "
            f"{LCS_558K:,} would take {LCS_558K / rate:5.1f} s"
        )
    rival = "an expression for each word"
    for name, took in list(times.items())[1:]:
        yield Line(f"captions: {name}", "texts/s", per_second(given.texts, took), rival, per_second(given.texts, plain))
    print(f"Peak memory, the records' own included: {peak_memory():,.0f} MiB")


if __name__ == "__main__":
    main()
