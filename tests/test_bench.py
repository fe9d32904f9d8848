"""scripts/bench.py and the scripts bench_*.py: one table of all that is measured, whatever some rivals do."""

import argparse
from types import SimpleNamespace

import bench
import bench_choice_scoring
import pytest
from bench import Line


def test_a_ratio_above_one_is_in_our_favour():
    assert Line("choices", "prompts/s", (10.0, 20.0), "theirs", (4.0, 5.0)).ratio == 4
    assert Line("memory", "MiB", (100.0, 90.0), "theirs", (270.0, 300.0)).ratio == 3
    assert Line("choices", "prompts/s", (10.0,), "theirs", (), "not installed").ratio is None


def test_a_row_has_the_best_round_and_the_worst():
    lines = [
        Line("choices", "prompts/s", (10.0, 20.0), "lm_eval 0.4.13", (4.0,), "equal"),
        Line("choices", "prompts/s", (10.0, 20.0), "vLLM", (), "not installed: make .venv-vllm/.installed"),
    ]
    page = bench.make_page(lines)
    assert "| choices | prompts/s | 20 (10) | lm_eval 0.4.13 | 4 | 5.00 | equal |" in page
    assert "| choices | prompts/s | 20 (10) | vLLM |  |  | not installed: make .venv-vllm/.installed |" in page


def test_every_bench_is_in_the_table(root):
    assert set(bench.SIZES) == {path.stem for path in (root / "scripts").glob("bench_*.py")}


@pytest.mark.parametrize("ending", [0, 1])
def test_a_bench_that_fails_is_a_row_and_fails_the_whole(ending, monkeypatch, tmp_path, capfd):
    (tmp_path / "bench_one.py").write_text(
        "import json, sys\n"
        "assert sys.argv[1:3] == ['--rows', '3'], sys.argv\n"
        "line = {'what': 'one', 'unit': 's', 'ours': [1], 'rival': 'two', 'theirs': [2], 'remark': ''}\n"
        f"json.dump([line], open(sys.argv[-1], 'w')); print('measuring'); sys.exit({ending})\n"
    )
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "bench.py"))
    monkeypatch.setattr(bench, "SIZES", {"bench_one": ("--rows", "3")})
    monkeypatch.setattr("sys.argv", ["bench.py"])
    if ending:
        with pytest.raises(SystemExit, match="failed: bench_one"):
            bench.main()
    else:
        bench.main()
    page = capfd.readouterr().out
    assert "measuring" not in page  # that is on standard error
    assert ("| one | s | 1 | two | 2 | 2.00 |" in page) == (not ending)
    assert ("| bench_one |  |  |  |  |  | failed" in page) == bool(ending)


def test_padded_batches_find_the_same_and_what_is_not_installed_is_a_row(tiny_checkpoint, monkeypatch):
    monkeypatch.setattr(
        bench_choice_scoring, "util", SimpleNamespace(find_spec=lambda name: None if name == "lm_eval" else name)
    )
    options = {"rows": 2, "every": 2, "rounds": 1, "dtypes": ("float32",), "systems": ("short",)}
    lines = list(
        bench_choice_scoring.measure(
            argparse.Namespace(model=str(tiny_checkpoint), rivals=bench_choice_scoring.RIVALS, **options)
        )
    )
    naive, bound, harness = lines
    assert naive.remark.endswith("0 of 3 winners differ")
    assert float(naive.remark.split(" ")[0]) < 1e-4
    assert bound.theirs[0] > naive.theirs[0]
    assert (harness.ratio, harness.remark) == (None, "not installed: make .venv-bench/.installed")
