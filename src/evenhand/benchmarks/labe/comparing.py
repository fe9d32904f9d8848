"""What comparisons of runs show besides differences: whether texts still say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmark import Comparing

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.report.findings import Similarity
    from evenhand.report.tables import Table

RUNS = ("_first", "_second")


class LabeComparing(Comparing):
    note = (
        "Variances are in squared points, 0 is best; overall: the mean of the three. Interval: bootstrap over names "
        "(texts where no one is named) within groups, its mean moved to the observed difference; p: the level at which "
        "that interval begins at 0. Noise adds to a variance: where B's texts differ less among each other, it is "
        "lower for that alone. "
    )

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """By text type, of what both runs have and could read: "more agentic" must not mean another text."""
        from evenhand.report.tables import Cell, Table, count
        from evenhand.statistics.clustered import paired_difference

        paired = first.merge(second, on="id", suffixes=RUNS)
        paired = paired[paired["gap_first"].notna() & paired["gap_second"].notna()]
        rows = []
        for text_type, readings in paired.groupby("text_type_first", sort=False):
            texts = readings.drop_duplicates(["row_first", "run_first"])
            before, after = (texts[f"text{run}"].str.split().map(len) for run in RUNS)
            words = paired_difference(before, after, texts["cluster_first"])
            similar = similarity(*([list(each) for each in texts[f"sentences{run}"]] for run in RUNS))
            rows.append(
                (
                    Cell(str(text_type)),
                    Cell(words.first),
                    Cell(words.second),
                    Cell(words.estimate, words.low, words.high),
                    Cell(100 * _share_changed(texts)),
                    Cell(similar, digits=3) if similar is not None else Cell("no encoder"),
                    count(len(texts)),
                )
            )
        note = (
            "Sentences changed: those of A that are not in B word for word. Similarity: cosine of the texts' mean "
            "sentence embeddings (all-MiniLM-L6-v2), 1 for the same text."
        )
        columns = ("text type", "words, A", "words, B", "B minus A", "sentences changed, %", "similarity", "texts")
        return (Table("Texts", columns, tuple(rows), note),) if rows else ()


def _share_changed(texts: pd.DataFrame) -> float:
    pairs = zip(texts["sentences_first"], texts["sentences_second"])
    kept = sum(sentence in set(second) for first, second in pairs for sentence in first)
    return 1 - kept / max(1, int(texts["sentences_first"].map(len).sum()))
