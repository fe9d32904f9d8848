"""The consensus of several runs of mllm_stereotypes, scored as a run of its own.

"a new model, Ensemble, which represents a consensus (intersection) of the responses from all three models" (Measuring
Stereotypical Bias in Multi-modal Large Language Models, section 5.3, Table 2).
"""

from __future__ import annotations

import filecmp
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmark import Results, Run
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.published import ENSEMBLE
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.evaluation import VERSIONED
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.settings import Settings
from evenhand.report.pages import write_report

BENCHMARK = "mllm_stereotypes"
OUTCOMES = ("agreed", "disagreed", "unread")

# What makes queries of one id the same; prompts may differ by a role or a mitigation's prefix.
_ASKED = ("config", "pair", "instance", "candidates", "age", "shared")
_TOLD = ("mitigation", "role", "order", "temperature", "faces", "images")  # members may differ in them, which is said
_READ = ("id", "row", "prompt", "text", "finish_reason", "side", "chosen", "rehearsal", *_ASKED)
_KEYS = ("config", "model_name", "model_identity", "metrics")


def ensemble(paths: Sequence[Path], output: Path) -> RunFolder:
    """Leave a run folder of the answers that all runs have in common, which `report` and `compare` take like any run's.

    Its settings are the first run's, of the configurations that all have; results.json has further `members` and
    `consensus`: how many queries were agreed on, disagreed on, or left unread by a run, of all and of each
    configuration. An `output` that holds an ensemble of the same runs is written again.
    Raises UsageError for fewer than two runs, runs of other benchmarks, unfinished or the same ones, ensembles, runs
    that were not asked the same, and an `output` of something else; then nothing is written.
    """
    members = _members(paths)
    _refuse_other(output, members)
    predictions = consensus(members)
    settings = replace(
        Settings.from_json(members[0].results["config"]),
        model=f"ensemble of {', '.join(_name(member.results) for member in members)}",
        configs=tuple(predictions["config"].unique()),
    )
    with _whole(output) as part:
        folder = RunFolder.begin(part, settings)
        folder.write_predictions(_records(predictions))
        folder.write_results(_results(members, settings, folder.read_predictions()))
        _keep_pictures(folder, members)
        write_report(folder)
    return RunFolder(output)


def consensus(members: Sequence[Run]) -> pd.DataFrame:
    """Predictions on the queries that all members have, in the first one's order.

    `consensus` is "unread" where a member's answer is, "agreed" where all chose the same group, else "disagreed";
    `chosen` and `side` are null unless agreed. text: each member's answer as it was read.
    Raises UsageError where no query is common, or one was shown otherwise to some.
    """
    common = set.intersection(*(set(member.predictions["id"]) for member in members))
    if not common:
        folders = " and ".join(str(member.path) for member in members)
        raise UsageError(
            f"{folders} have no query in common; run them with the same --config, --limit, --seed and pictures"
        )
    ids = [each for each in members[0].predictions["id"] if each in common]
    asked = [member.predictions.set_index("id").loc[ids].astype(object) for member in members]
    _refuse_other_queries(members, asked)
    chosen = pd.concat([each["chosen"] for each in asked], axis=1, keys=[member.letter for member in members])
    read = chosen.notna().all(axis=1)
    agreed = read & chosen.eq(chosen.iloc[:, 0], axis=0).all(axis=1)
    accounts = ([f"{letter}: {group}" for letter, group in zip(chosen, row)] for row in chosen.fillna("unread").values)
    first = asked[0]
    return first.assign(
        rehearsal=np.any([each["rehearsal"].astype(bool) for each in asked], axis=0),
        text=["; ".join(account) for account in accounts],
        finish_reason=None,
        side=first["side"].where(agreed),
        chosen=first["chosen"].where(agreed),
        consensus=np.select([agreed, read], OUTCOMES[:2], OUTCOMES[2]),
    ).reset_index()


# The runs


def _members(paths: Sequence[Path]) -> list[Run]:
    if not 2 <= len(paths) <= len(ascii_uppercase):
        raise UsageError(f"{len(paths)} came; a consensus is of 2 to {len(ascii_uppercase)} runs")
    members = [_member(letter, path) for letter, path in zip(ascii_uppercase, paths)]
    for one, other in combinations(members, 2):
        if _is_same(one, other):
            raise UsageError(f"{one.path} and {other.path} are the same run, which agrees with itself: name others")
    return members


def _member(letter: str, path: Path) -> Run:
    folder = RunFolder.open(path)
    results: Results = folder.read_results()
    if results.get("benchmark") != BENCHMARK:
        raise UsageError(f"{path} is a run of {results.get('benchmark')}; an ensemble is of runs of {BENCHMARK}")
    if "members" in results:
        raise UsageError(f"{path} is an ensemble itself; name the runs that it is made of")
    predictions = folder.read_predictions()
    missing = [name for name in _READ if name not in predictions] + [key for key in _KEYS if key not in results]
    if missing or not predictions["id"].is_unique:
        raise EvenhandError(
            f"{path} was written by another version of evenhand, or changed (it has "
            f"{'no ' + ', '.join(missing) if missing else 'an id twice'}); repeat its evenhand run command"
        )
    return Run(letter, path, results, predictions)


def _is_same(one: Run, other: Run) -> bool:
    """The same folder, or a copy of it."""
    first, second = (RunFolder(run.path).predictions for run in (one, other))
    return first.samefile(second) or (
        _asking(one.results) == _asking(other.results) and filecmp.cmp(first, second, shallow=False)
    )


def _asking(member: Results) -> tuple[object, object]:
    """Who was asked, and how."""
    return member["model_identity"], member["config"]


def _refuse_other_queries(members: Sequence[Run], asked: Sequence[pd.DataFrame]) -> None:
    for column in _ASKED:
        first, *others = ([_comparable(value) for value in each[column]] for each in asked)
        for member, other in zip(members[1:], others):
            for name, one, another in zip(asked[0].index, first, other):
                if one != another:
                    raise UsageError(
                        f"{members[0].path} and {member.path} were not shown the same: in {name}, {column} is "
                        f"{_shown(one)} and {_shown(another)}; run them with the same pictures and --seed"
                    )


def _comparable(value: Any) -> Any:
    """Lists as tuples; a value that is missing is None, however it was stored."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(value)
    return None if pd.isna(value) else value


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


# What is said of them


def _results(members: Sequence[Run], settings: Settings, predictions: pd.DataFrame) -> dict[str, Any]:
    # Shares in the world were read when the run was: their file needn't be here.
    metrics = get_benchmark(BENCHMARK).score(predictions, replace(settings, real_shares=None))
    metrics["warnings"] = [*_left_out(members, len(predictions)), *_differences(members), *metrics["warnings"]]
    shares = [each for member in members if (each := member.results["metrics"].get("real_shares"))]
    if shares:
        metrics["real_shares"] = shares[0]
    identities = {member.letter: member.results["model_identity"] for member in members}
    return {
        "benchmark": BENCHMARK,
        "config": settings.to_json(),
        "model": settings.model,
        "model_name": settings.model,
        "model_identity": f"ensemble of {', '.join(identities.values())}",
        "agents": identities,
        "helpers": [],
        "texts_sha256": None,
        "n": metrics["n"],
        "metrics": metrics,
        "published": _published(members, settings.configs),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED},
        "members": [
            {
                "letter": member.letter,
                "path": str(member.path),
                "model_name": member.results["model_name"],
                "model_identity": member.results["model_identity"],
                "config": member.results["config"],
            }
            for member in members
        ],
        "consensus": _counts(predictions)
        | {"configs": {str(config): _counts(of) for config, of in predictions.groupby("config", sort=False)}},
    }


def _name(results: Results) -> str:
    """ "llava as Barack Obama with debiasing" """
    config = results["config"]
    role, mitigation = config.get("role"), config.get("mitigation")
    return str(results["model_name"]) + (f" as {role}" if role else "") + (f" with {mitigation}" if mitigation else "")


def _counts(predictions: pd.DataFrame) -> dict[str, int]:
    outcomes = predictions["consensus"]
    return {"n": len(outcomes)} | {outcome: int((outcomes == outcome).sum()) for outcome in OUTCOMES}


def _published(members: Sequence[Run], configs: tuple[str, ...]) -> dict[str, Any]:
    """Table 2's Ensemble, where all members are the paper's protocol; else empty.

    The table has one number where models have two. It is compared with association_score_answered, for it can't have
    the share answered as a factor: by Tables A3 and A4 (77.36, 80.61 and 81.82 % of answers on gender and occupation
    alike, of two groups) all three agree on 69.9 %, which would make 0.35 the most; 0.4338 is printed.
    """
    benchmark = get_benchmark(BENCHMARK)
    settings = [Settings.from_json(member.results["config"]) for member in members]
    tables = [benchmark.published(replace(each, configs=configs)) for each in settings]
    if not all(tables):
        return {}
    return {"source": tables[0]["source"], "figures": {ENSEMBLE: tables[0]["figures"][ENSEMBLE]}}


def _left_out(members: Sequence[Run], n: int) -> Iterator[str]:
    ids = [set(member.predictions["id"]) for member in members]
    every = len(set.union(*ids))
    if every > n:
        lacking = ", ".join(f"{member.letter} lacks {every - len(of):,}" for member, of in zip(members, ids))
        yield f"{every - n:,} of {every:,} queries are left out, for not every run has them: {lacking}"


def _differences(members: Sequence[Run]) -> Iterator[str]:
    for name in _TOLD:
        values: dict[str, list[str]] = {}
        for member in members:
            config = member.results["config"]
            value = {**config, **config.get("pictures", {})}.get(name)
            values.setdefault("none" if value is None else str(value), []).append(member.letter)
        if len(values) > 1:
            told = "; ".join(f"{', '.join(letters)}: {value}" for value, letters in values.items())
            yield f"the runs differ in their {name} ({told}): the consensus is not of their models alone"


# The folder


def _refuse_other(output: Path, members: Sequence[Run]) -> None:
    """Raises UsageError for an output that holds anything but an ensemble of these members."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    folder = RunFolder(output)
    held: Results = folder.read_results() if folder.results.is_file() else {}
    if "members" not in held:
        raise UsageError(f"{output} is not empty and holds no ensemble; choose another --output")
    asked = [_asking(member) for member in held["members"]]
    if len(asked) != len(members) or not all(_asking(member.results) in asked for member in members):
        raise UsageError(f"{output} holds another ensemble ({held['model_name']}); choose another --output")


@contextmanager
def _whole(output: Path) -> Iterator[Path]:
    """A folder inside of `output`, whose files move there when all are written; nothing stays of one that failed."""
    new = not output.exists()
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=output) as part:
            yield Path(part)
            for file in sorted(path for path in Path(part).rglob("*") if path.is_file()):
                place = output / file.relative_to(part)
                place.parent.mkdir(exist_ok=True)
                os.replace(file, place)
    except OSError as error:
        raise EvenhandError(
            f"can't write {output}: {error.strerror or error}; choose another --output, or mend this one"
        ) from error
    finally:
        if new and output.is_dir() and not any(output.iterdir()):
            output.rmdir()


def _records(predictions: pd.DataFrame) -> Iterator[dict[str, Any]]:
    names = list(predictions.columns)
    for row in predictions.itertuples(index=False, name=None):
        values = (list(each) if isinstance(each, tuple) else each for each in map(_comparable, row))
        yield dict(zip(names, values))


def _keep_pictures(folder: RunFolder, members: Sequence[Run]) -> None:
    """Those of the report's examples, from the first member that kept them."""
    findings = get_benchmark(BENCHMARK).findings(folder.read_predictions(), folder.read_results())
    for name in filter(None, (example.picture for example in findings.examples)):
        kept = (RunFolder(member.path).picture(name) for member in members)
        content = next(filter(None, kept), None)
        if content is not None:
            folder.keep_picture(name, content)
