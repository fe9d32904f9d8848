"""Exported tasks: what an option counts is what a run counts; and other harnesses, where they are installed, find the
same figures with the same model (make test-peers)."""

import importlib.util
import json
import math
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.metrics.contact_bias.scores import UNREAD, is_biased, read_answer
from evenhand.tools.peers.items import headline_values

LIMIT = 24  # rows, of three questions each


def needs(package):
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed here (make test-peers)"
    )


def questions(folder):
    return [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]


def means(counted):
    """{figure: mean} of (figure, value) pairs, None left out."""
    found = defaultdict(list)
    for name, value in counted:
        if value is not None:
            found[name].append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def headline(folder, benchmark="contact_hypothesis", whole=False):
    """{id: {figure: value}} of a run, and {figure: mean}; NaN is unread.

    whole: replies that were cut off are read as others, as harnesses do, which don't tell them apart.
    """
    predictions = pd.read_parquet(folder / "predictions.parquet")
    if whole:
        read = zip(predictions["text"], predictions["scale"], predictions["action"])
        polarities = [(read_answer(text, scale), action) for text, scale, action in read]
        predictions["biased"] = [None if each[0] == UNREAD else is_biased(*each) for each in polarities]
    benchmark = get_benchmark(benchmark)
    rows = defaultdict(dict)
    for name, row, value in headline_values(benchmark, benchmark.sample(predictions)):
        rows[row][name] = None if math.isnan(value) else value
    return dict(rows), means((name, value) for each in rows.values() for name, value in each.items())


@pytest.mark.parametrize(("stub", "place"), [("stub:first", 0), ("stub:last", -1)])
def test_an_option_counts_what_a_run_counts(evenhand, finished, tmp_path, stub, place):
    """Whoever always takes the first option, or the last, has the figures of a model that does; row by row."""
    made = evenhand("export", "lm-eval", "contact_hypothesis", "--limit", LIMIT, "--output", tmp_path / "task")
    assert made.code == 0, made.err
    rows, figures = headline(finished("contact_hypothesis", stub, limit=LIMIT))
    items = questions(tmp_path / "task")
    found = {item["id"]: {figure["name"]: figure["values"][place] for figure in item["figures"]} for item in items}
    assert found == rows
    assert len(items) == 3 * LIMIT
    assert means(pair for each in found.values() for pair in each.items()) == pytest.approx(figures)


def test_prompts_and_options_are_the_runs_own(evenhand, tmp_path):
    """Of the rows that a run draws; a mitigation's instruction is in them."""
    from evenhand.flow.evaluation import prepare

    told = ("--config", "certainty", "--limit", LIMIT, "--seed", 3, "--mitigation", "unbiased-instruction")
    evenhand("export", "lm-eval", "contact_hypothesis", *told, "--output", tmp_path / "task")
    settings = {"configs": ("certainty",), "limit": LIMIT, "seed": 3, "mitigation": "unbiased-instruction"}
    config = run_config("contact_hypothesis", "stub:first", **settings)
    run = prepare(config)
    requests = [request for episode in run.episodes(run.rows.rows) for request in next(episode)]
    asked = [([(each.role, each.text) for each in request.messages], [*request.choices]) for request in requests]
    items = questions(tmp_path / "task")
    assert [([(m["role"], m["content"]) for m in item["messages"]], item["choices"]) for item in items] == asked
    assert "unbiased" in asked[0][0][1][1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lm-eval", "implicit_bias"], "rules that a task file can't hold"),
        (["lm-eval", "labe"], "models take part"),
        (["lm-eval", "mllm_stereotypes"], "pictures"),
        (["lm-eval", "utility"], "rules that a task file can't hold"),
        (["lm-eval", "contact_hypothesis", "--order", "balanced"], "expected --order paper"),
        (["lm-eval", "contact_hypothesis", "--protocol", "generate", "--constrain"], "leave --constrain out"),
        (["lm-eval", "contact_hypothesis", "--model", "embedded"], "leave it out"),
        (["lm-eval", "contact_hypothesis", "--plan"], "leave it out"),
        (["inspect", "contact_hypothesis", "--protocol", "choose"], "use --protocol generate"),
        (["inspect", "contact_hypothesis", "--layout", "published"], "use --layout chat"),
        (["inspekt", "contact_hypothesis"], "did you mean 'inspect'"),
        ([], "a harness is needed first"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_a_task_file_cannot_hold_is_refused(evenhand, tmp_path, arguments, said):
    one = ["--config", "certainty"] if "contact_hypothesis" in arguments else []
    where = ["--limit", 6, "--output", tmp_path / "task"] if arguments else []
    refused = evenhand("export", *arguments, *one, *where)
    assert refused.code == 2
    assert said in refused.err
    assert not (tmp_path / "task").exists()


@pytest.mark.parametrize(("peer", "protocol"), [("lm-eval", "choose"), ("inspect", "generate")])
def test_the_folder_says_how_it_is_asked(evenhand, tmp_path, peer, protocol):
    """What was left by a command that was killed is written over."""
    command = ("export", peer, "contact_hypothesis", "--config", "certainty", "--limit", 6, "--protocol", protocol)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "items.jsonl").write_text("")
    made = evenhand(*command, "--output", tmp_path / "task")
    assert made.code == 0, made.err
    readme = (tmp_path / "task" / "README.md").read_text(encoding="utf-8")
    assert "18 questions" in readme
    assert made.out.splitlines()[-1].replace(f"{tmp_path}/task", ".") in readme


def test_a_folder_of_something_else_stays_as_it_is(evenhand, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    command = ("export", "lm-eval", "contact_hypothesis", "--config", "certainty", "--limit", 6, "--output")
    refused = evenhand(*command, tmp_path)
    assert (refused.code, [path.name for path in tmp_path.iterdir()]) == (2, ["thesis.txt"])
    for _ in range(2):  # over an earlier export it writes again
        assert evenhand(*command, tmp_path / "task").code == 0


HEADER, LINE_BREAK = "", "\n"
"""What a tiny checkpoint's chat template ends its prompts with: the answer's header, or white space behind it."""


@pytest.fixture(scope="module")
def model(request, tmp_path_factory, tiny_llama, tokenizer):
    """A tiny checkpoint whose template ends in the parameter."""
    folder = tmp_path_factory.mktemp("tiny")
    tiny_llama.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text() + "{{ '" + request.param.replace("\n", "\\n") + "' }}")
    return folder


def asked(evenhand, peer, folder, model, *options):
    """Export, and call the command that it says; where the harness writes its logs to."""
    made = evenhand("export", peer, *options, "--output", folder / "task")
    assert made.code == 0, made.err
    command = shlex.split(made.out.splitlines()[-1].replace("MODEL", str(model)))
    return command, folder / "logs"


def called(command, folder):
    done = subprocess.run(
        [str(Path(sys.executable).with_name(command[0])), *command[1:]],
        cwd=folder, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


@needs("lm_eval")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("model", "options"),
    [
        pytest.param(HEADER, (), id="as it is"),
        pytest.param(LINE_BREAK, (), id="a line break ends prompts"),
        pytest.param(HEADER, ("--layout", "published"), id="published"),
        pytest.param(HEADER, ("--aggregate", "sum"), id="sum"),
        pytest.param(HEADER, ("--protocol", "generate"), id="generate"),
    ],
    indirect=["model"],
)
def test_lm_eval_finds_the_same(evenhand, tmp_path, model, options):
    told = ("contact_hypothesis", "--limit", LIMIT, *options)
    command, logs = asked(evenhand, "lm-eval", tmp_path, model, *told)
    command[command.index("--model_args") + 1] += ",dtype=float32"
    called([*command, "--log_samples", "--output_path", str(logs), "--batch_size", "8"], tmp_path)
    [samples], [results] = logs.rglob("samples_*.jsonl"), logs.rglob("results_*.json")
    values = {name.removeprefix("--"): value for name, value in zip(options[::2], options[1::2])}
    run = evaluate(
        run_config("contact_hypothesis", str(model), limit=LIMIT, dtype="float32", **values), tmp_path / "run"
    )
    rows, figures = headline(run.path, whole="generate" in options)
    found = {}
    for line in samples.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        found[sample["doc"]["id"]] = {
            each["name"]: sample[each["name"].replace(", ", "/")] for each in sample["doc"]["figures"]
        }
    assert found == rows
    [told] = json.loads(results.read_text())["results"].values()
    known = {name.removesuffix(",none"): value for name, value in told.items() if "/" in name and "stderr" not in name}
    assert {name.replace(", ", "/"): value for name, value in figures.items()} == pytest.approx(
        {name: value for name, value in known.items() if not math.isnan(value)}
    )
    n_unread = sum(None in each.values() for each in rows.values())
    assert told["unread,none"] == pytest.approx(100 * n_unread / len(rows))


@needs("inspect_ai")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", [HEADER], indirect=True, ids=["as it is"])
def test_inspect_finds_the_same(evenhand, tmp_path, model):
    command, logs = asked(evenhand, "inspect", tmp_path, model, "contact_hypothesis", "--limit", LIMIT)
    command[command.index("--model") + 1] = "hf/local"
    called([*command, "-M", f"model_path={model}", "--log-format", "json", "--log-dir", str(logs), "--display", "none"],
           tmp_path)  # fmt: skip
    [log] = [json.loads(path.read_text()) for path in logs.glob("*.json")]
    settings = {"protocol": "generate", "limit": LIMIT, "dtype": "float32"}
    run = evaluate(run_config("contact_hypothesis", str(model), **settings), tmp_path / "run")
    rows, figures = headline(run.path, whole=True)
    found = {}
    for sample in log["samples"]:
        [score] = sample["scores"].values()
        read, names = score["metadata"]["read"], [each["name"] for each in sample["metadata"]["figures"]]
        found[sample["id"]] = {name: None if read is None else read[name] for name in names}
    assert log["status"] == "success"
    assert found == rows
    [score] = log["results"]["scores"]
    told = {each["name"]: each["value"] for each in score["metrics"].values()}
    assert told.pop("unread") == pytest.approx(100 * sum(None in each.values() for each in rows.values()) / len(rows))
    assert told == pytest.approx(figures)


def test_the_page_names_what_is_exported(root):
    """docs/export.md's table has every benchmark that there is."""
    from evenhand.benchmarks import BENCHMARKS

    page = (root / "docs" / "export.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == set(BENCHMARKS.own)
