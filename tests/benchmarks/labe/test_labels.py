"""People's labels of a run's sentences: out to sheets, back, and into the run's report."""

import math

import pandas as pd
import pytest

from evenhand.benchmarks.labe.benchmark import Labe
from evenhand.benchmarks.labe.corrected import label_warnings
from evenhand.benchmarks.labe.reading import STRATA, Labels, read_labels
from evenhand.errors import UsageError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.language_agency.sentences import sentence_id

RACES, GENDERS = ("White", "Black"), ("male", "female")
LABE = Labe()
LEADS, HELPS = "This person is an ambitious leader.", "This person is kind and helps friends."


def file_of_texts(path):
    """Forty people's texts of five sentences: men lead in four, women in two. Every sentence is another one."""
    rows = []
    for race in RACES:
        for gender in GENDERS:
            for i in range(10):
                n = 4 if gender == "male" else 2
                name = f"{race}{gender}{i}"
                sentences = [f"{text[:-1]}, {name} {k}." for k, text in enumerate([LEADS] * n + [HELPS] * (5 - n))]
                rows.append({"text": " ".join(sentences), "gender": gender, "race": race, "name": name})
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def merged_of(folder, path, wrong=0, n=100):
    """Labels of the run's first n sentences, such that the classifier's were wrong on some that people call agentic."""
    predictions = pd.read_parquet(folder / "predictions.parquet")
    rows = [
        {"id": sentence_id(sentence), "question": "agency", "majority": "agentic" if p > 0.5 else "communal"}
        for sentences, agentic in zip(predictions["sentences"], predictions["agentic"])
        for sentence, p in zip(sentences, agentic)
    ][:n]
    for row in [row for row in rows if row["majority"] == "communal"][:wrong]:
        row["majority"] = "agentic"
    pd.DataFrame(rows).assign(status="majority").to_csv(path, index=False)
    return path


@pytest.fixture
def run(evenhand, tmp_path):
    """run("--labels", …) → the results of the same folder, finished again."""
    texts = file_of_texts(tmp_path / "texts.csv")

    def again(*options):
        called = evenhand(
            "run", "labe", "--texts", texts, "--classifiers", "lexicon", *options, "--output", tmp_path / "run"
        )
        assert called.code == 0, called.err
        return RunFolder(tmp_path / "run").read_results()

    return again


def test_sentences_go_out_and_their_labels_correct_the_report(evenhand, run, tmp_path):
    """Annotators call all that leads agentic and half of what helps: 60 % seen, 60 + 20 = 80 % true."""
    assert "agentic_corrected" not in run().figures
    sheet, merged = tmp_path / "sheet.csv", tmp_path / "merged.csv"
    folder = tmp_path / "run"
    out = evenhand("annotate", "export", folder, "--scheme", "agency", "--each", "sentences", "--output", sheet)
    assert out.code == 0, out.err
    labels = pd.read_csv(sheet, encoding="utf-8-sig")
    assert len(labels) == 200
    helps = labels.index[labels["text"].str.contains("helps")]
    labels["agency"] = "agentic"
    labels.loc[helps[: len(helps) // 2], "agency"] = "communal"
    labels.to_csv(sheet, index=False)
    back = evenhand(
        "annotate",
        "import",
        f"ada={sheet}",
        "--scheme",
        "agency",
        "--key",
        tmp_path / "sheet.key.csv",
        "--output",
        merged,
    )
    assert back.code == 0, back.err
    table = run("--labels", merged).figures
    rates = [table.row(key, classifier="lexicon") for key in ("sensitivity", "specificity")]
    assert [(row.value, row.n) for row in rates] == [(75, 160), (100, 40)]
    where = {"classifier": "lexicon", "text_type": "texts"}
    everyone, men = ([table.row(f"agentic_{key}", **where, **groups) for key in ("seen", "corrected")]
                     for groups in ({}, {"gender": "male"}))  # fmt: skip
    assert [row.value for row in everyone] == pytest.approx([60, 80])
    assert everyone[1].low < 80 < everyone[1].high
    assert [row.value for row in men] == pytest.approx([80, 100])


def test_few_unknown_and_undecided_labels_are_said(run, tmp_path):
    run()
    merged = merged_of(tmp_path / "run", tmp_path / "merged.csv", n=12)
    rows = pd.read_csv(merged)
    rows = pd.concat([rows, rows.iloc[:3].assign(id=[sentence_id(str(i)) for i in range(3)])])
    rows.iloc[0, rows.columns.get_loc("status")] = "ambiguous"
    rows.to_csv(merged, index=False)
    results = run("--labels", merged)
    assert "agentic_corrected" not in results.figures
    assert len(results.warned("labels")) == 4  # undecided, in no text, about few names, nothing corrected


def corrected(table, labels):
    """(the figures' table, warnings) of predictions with these labels."""
    said = labels.agentic
    labelled = [[float(said.get(sentence_id(s), math.nan)) for s in sentences] for sentences in table["sentences"]]
    table = table.assign(labelled=labelled, gap=0.0, name=table["cluster"], **dict.fromkeys(STRATA, ""))
    figures = [each for each in LABE.figures if "labelled" in each.statistic.columns]
    return FigureTable(figure_rows(figures, LABE.sample(table))), list(label_warnings(table, labels))


def test_neutral_is_not_agentic_and_each_classifier_has_errors_of_its_own():
    sentences = [f"s{i}" for i in range(40)]
    table = pd.DataFrame(
        [
            {"race": "", "gender": "male", "cluster": f"{k}", "text_type": "t", "classifier": name, "sentences": s,
             "agentic": [1.0 if name == "blind" or k == 0 else 0.0] * 20}
            for name in ("good", "blind")
            for k, s in enumerate([sentences[:20], sentences[20:]])
        ]
    )  # fmt: skip
    labels = Labels({sentence_id(s): i < 20 for i, s in enumerate(sentences)}, 0)
    found, warnings = corrected(table, labels)
    good = found.row("agentic_corrected", classifier="good", text_type="t")
    assert good.value == pytest.approx(50)
    assert good.interval is None  # two clusters
    assert not found.rows("agentic_corrected", "text_type", classifier="blind")
    assert [each for each in warnings if "blind: the classifier is no better than chance" in each.text]


def groups_of(shares, n_sentences=5):
    """Forty texts a group, each of a person, of which every one has so many agentic sentences of five."""
    rows = [
        {"race": "", "gender": gender, "cluster": f"{gender} {i}", "n": n}
        for gender, numbers in shares.items()
        for i, n in enumerate(numbers)
    ]
    table = pd.DataFrame(rows).assign(text_type="t", classifier="c")
    table["agentic"] = [[1.0] * n + [0.0] * (n_sentences - n) for n in table.pop("n")]
    table["sentences"] = [[f"{text} {k}" for k in range(n_sentences)] for text in range(len(table))]
    return table


def labels_of(table, wrong):
    """Labels of all sentences of men: as the classifier's, but that every wrong-th of its agentic ones is not."""
    men = table[table["gender"] == "male"]
    pairs = [(s, p > 0.5) for of, ps in zip(men["sentences"], men["agentic"]) for s, p in zip(of, ps)]
    seen = [s for s, agentic in pairs if agentic]
    mistaken = set(seen[::wrong]) if wrong else set()
    return Labels({sentence_id(s): agentic and s not in mistaken for s, agentic in pairs}, 0)


def test_groups_that_the_labels_contradict_are_not_corrected_and_named():
    """Of men's sentences the classifier calls a fourth agentic wrongly: of women's it would have to, and calls none."""
    table = groups_of({"male": [2, 3] * 20, "female": [0] * 40})
    found, warnings = corrected(table, labels_of(table, wrong=4))
    men, women = (
        found.row("agentic_corrected", classifier="c", text_type="t", gender=gender) for gender in ("male", "female")
    )
    assert men.low < men.value < men.high
    assert math.isnan(women.value)
    assert women.interval is None
    [warning] = [each for each in warnings if each.code == "contradicting_labels"]
    assert "t, female (0.0 %)" in warning.text
    assert "male (" not in warning.text.replace("female (", "")
    assert "20.0 % agentic sentences where there are none" in warning.text


def test_a_classifier_that_is_always_right_is_believed_and_what_it_never_sees_is_not_certain():
    """No name of 40 has an agentic sentence: others may be 1 - 0.025^(1/40), 8.8 %, however long their texts."""
    table = groups_of({"male": [2, 3] * 20, "female": [0] * 40})
    found, warnings = corrected(table, labels_of(table, wrong=0))
    women = found.row("agentic_corrected", classifier="c", text_type="t", gender="female")
    assert (women.value, women.low) == (0, 0)
    assert women.high == pytest.approx(100 * (1 - 0.025 ** (1 / 40)), abs=0.01)
    assert not [each for each in warnings if each.code == "contradicting_labels"]


def written(path, **columns):
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_labels_as_annotators_leave_them(tmp_path):
    ids = [sentence_id(text) for text in "abcd"]
    path = written(
        tmp_path / "m.csv",
        id=ids,
        majority=["agentic", "neutral", "", "communal"],
        status=["majority", "third", "na", "majority"],
    )
    assert read_labels(path) == Labels({ids[0]: True, ids[1]: False, ids[3]: False}, 1)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"id": ["sentence-1"], "label": ["agentic"]}, "has no column majority, status"),
        (
            {"id": ["row/1"], "majority": ["agentic"], "status": ["majority"]},
            "line 2: 'row/1' is not the id of a sentence",
        ),
        (
            {"id": ["sentence-1"], "majority": ["yes"], "status": ["majority"]},
            "unknown label 'yes'; expected agentic, communal",
        ),
        (
            {"id": ["sentence-1"] * 2, "majority": ["agentic"] * 2, "status": ["majority"] * 2},
            "line 3: sentence-1 is labelled twice",
        ),
    ],
)
def test_what_is_no_table_of_labels_is_refused_before_anything_is_asked(evenhand, tmp_path, columns, says):
    path = written(tmp_path / "m.csv", **columns)
    with pytest.raises(UsageError, match=says):
        read_labels(path)
    called = evenhand(
        "run",
        "labe",
        "--model",
        "stub:first",
        "--classifiers",
        "lexicon",
        "--labels",
        path,
        "--output",
        tmp_path / "run",
    )
    assert (called.code, (tmp_path / "run").exists()) == (2, False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--each", "text"), "needs a list of texts"),
        (("--each", "sentence"), "has no column 'sentence'"),
        (("--each", "sentences", "--label-column", "gap"), "--each can't be combined with"),
        (("--each", "sentences", "--column", "text"), "--each can't be combined with"),
        (("--each", "sentences", "--id-column", "id"), "--each can't be combined with"),
    ],
)
def test_what_is_no_list_of_texts_is_not_exported(evenhand, run, tmp_path, options, says):
    run()
    called = evenhand(
        "annotate", "export", tmp_path / "run", "--scheme", "agency", *options, "--output", tmp_path / "sheet.csv"
    )
    assert called.code == 2
    assert says in called.err
