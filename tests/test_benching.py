"""scripts/benching.py and scripts/bench.py: one table of all that is measured, whatever some rivals do."""

import argparse
import importlib

import pytest

from evenhand.models.prefix_tree import Continuation


@pytest.fixture
def script(root, monkeypatch):
    """A module of scripts/, by name, as the scripts themselves import it."""
    monkeypatch.syspath_prepend(str(root / "scripts"))
    return importlib.import_module


def test_a_ratio_above_one_is_in_our_favour(script):
    line = script("benching").Line
    assert line("choices", "prompts/s", (10.0, 20.0), "theirs", (4.0, 5.0)).ratio == 4
    assert line("memory", "MiB", (100.0, 90.0), "theirs", (270.0, 300.0)).ratio == 3
    assert line("choices", "prompts/s", (10.0,), "theirs", (), "not installed").ratio is None


def test_a_row_has_the_best_round_and_the_worst(script):
    benching = script("benching")
    lines = [
        benching.Line("choices", "prompts/s", (10.0, 20.0), "lm_eval 0.4.13", (4.0,), "the same"),
        benching.Line("choices", "prompts/s", (10.0, 20.0), "vLLM", (), "not installed: make .venv-vllm/.installed"),
    ]
    page = benching.as_markdown(lines)
    assert "| choices | prompts/s | 20 (10) | lm_eval 0.4.13 | 4 | 5.00 | the same |" in page
    assert "| choices | prompts/s | 20 (10) | vLLM |  |  | not installed: make .venv-vllm/.installed |" in page


def test_what_a_script_measured_reaches_the_table(script, tmp_path):
    benching = script("benching")
    lines = [benching.Line("a step", "s", (1.5, 2.0), "TRL", (6.0,), "fewer tokens")]
    benching.write(lines, tmp_path / "lines.json")
    assert benching.read(tmp_path / "lines.json") == lines


def test_every_bench_is_in_the_table(script, root):
    assert set(script("bench").SIZES) == {path.stem for path in (root / "scripts").glob("bench_*.py")}


@pytest.mark.parametrize("ending", [0, 1])
def test_a_bench_that_fails_is_a_row_and_fails_the_whole(ending, script, monkeypatch, tmp_path, capfd):
    bench = script("bench")
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
    assert ("| bench_one |  |  |  |  |  | it failed" in page) == bool(ending)


ROW = [Continuation((1, 2, 3), (4, 5)), Continuation((1, 2, 3), (6,))]


def test_llama_cpp_reads_what_a_tasks_options_share_once(script):
    llama = script("llama_cpp_scoring")
    assert llama.common(ROW) == 3
    assert llama.common([Continuation((1, 2), (3, 4)), Continuation((1, 2), (3, 5))]) == 3
    assert [len(some) for some in llama.batches([ROW] * 70)] == [32, 32, 6]  # tasks at once
    long = [Continuation(tuple(range(900)), (4, 5)), Continuation(tuple(range(900)), (6,))]
    assert [len(some) for some in llama.batches([long] * 5)] == [2, 2, 1]  # tokens of a context


@pytest.fixture
def choices(script, monkeypatch):
    """scripts/bench_choice_scoring.py, whose engines answer at once: evenhand reads 12 tokens a second, naive 4."""
    bench = script("bench_choice_scoring")
    speeds = {"evenhand": 1.0, "naive": 2.0, "lm_eval": 4.0, "llama.cpp": 8.0}
    started = []

    class Instant:
        def __init__(self, python, options):
            started.append(python)

        def do(self, key, what, system, every):
            if key not in speeds:
                raise RuntimeError("out of memory")
            prompts = 4 // every
            results = {"log_probs": [[-1.0, -3.0]] * prompts, "lengths": [[1, 2]] * prompts, "tokens": 8, "distinct": 4}
            return {
                "warm": {"name": f"{key} 1.0"},
                "round": {"seconds": speeds[key], "prompts": prompts},
                "results": results,
            }[what]

        def end(self):
            started.append("ended")

    monkeypatch.setattr(bench, "Engines", Instant)
    absent = {"vllm": None}
    monkeypatch.setattr(bench, "python_with", lambda rival: absent.get(rival.module, rival.module or "python"))
    return bench, started


def given(bench, **changed):
    plain = {"model": "embedded", "rows": 2, "every": 2, "rounds": 2, "rivals": [*bench.RIVALS], "page": None}
    return argparse.Namespace(**plain | {"dtypes": ("float32",), "systems": ("paper", "short")} | changed)


def test_rivals_that_are_not_here_are_rows_and_the_rest_goes_on(choices):
    bench, started = choices
    lines = list(bench.measure(given(bench)))
    assert len(lines) == 2 * len(bench.RIVALS)
    rows = {(line.what, line.rival): line for line in lines}
    paper = "choices, the paper's system prompt, float32"
    assert rows[paper, "lm_eval 1.0"].ratio == 8  # 4 prompts in 1 s beside 2 in 4 s
    assert rows[paper, "naive 1.0"].remark == "0e+00 nats apart at most, 0 of 2 winners differ"
    assert rows[paper, "vLLM"].remark == "not installed: make .venv-vllm/.installed"
    assert rows[paper, "llama.cpp, own Q4_1 weights"].remark == "failed: out of memory"
    assert started[:-3] == ["python", "lm_eval", "llama_cpp"] or sorted(started[:3]) == [
        "llama_cpp",
        "lm_eval",
        "python",
    ]
    assert started[3:] == ["ended"] * 3


def test_the_page_has_all_cells_and_its_own_part_alone(choices, tmp_path):
    bench, _ = choices
    page = tmp_path / "RESULTS.md"
    page.write_text("# Results\n\nMore.\n")
    for _ in range(2):
        list(bench.measure(given(bench, dtypes=("float32", "bfloat16"), page=page)))
    text = page.read_text()
    assert text.startswith("# Results\n\nMore.\n")
    assert text.count("## Choice scoring") == 1
    # Naive read 8 tokens in 2 s; 4 distinct ones of 4 prompts would take 1 s: 4 prompts/s, which evenhand reaches.
    assert text.count("| 4 | 100% | 1: 4.0 times | 0.5: 8.0 times |") == 4
    told = " ".join(text.split())
    assert "vLLM: not installed: make .venv-vllm/.installed." in told
    assert "--rows 2 --every 2 --rounds 2" in told
    assert "0.000 nats a token on average" in told
    assert all(len(line) <= 120 or line.startswith("|") for line in text.splitlines())
