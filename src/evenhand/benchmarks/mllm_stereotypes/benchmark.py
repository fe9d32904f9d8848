"""Stereotypes in multimodal models (Jiang et al., "ModSCAN", EMNLP 2024; paper 004 is its submitted version).

Vision modality: two faces side by side that are alike but for gender or race, and the question where the pilot is.
Language modality: a picture of a thing, and a sentence about the person whom it belongs to that lists social terms.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
from PIL import Image as PictureFile

from evenhand.benchmark import BenchmarkDefaults, Findings, Panel, Results, Row, Run
from evenhand.benchmarks.mllm_stereotypes import findings, published, queries, side_by_side
from evenhand.benchmarks.mllm_stereotypes.faces import Splicer
from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import LIMIT
from evenhand.benchmarks.mllm_stereotypes.pictures import encoded
from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares
from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_side, read_social_term
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prompt, derive_seed, run_name
from evenhand.flow.settings import Settings
from evenhand.library import load_metric
from evenhand.models.request import Image, Message, Request
from evenhand.statistics.clustered import Difference

ROLE = Prompt("Act as {role}.", source="Measuring Stereotypical Bias in Multi-modal Large Language Models, section 5.4")
SIDES = ("left", "right")
NAMED = 5  # of those that a warning names


class MllmStereotypes(BenchmarkDefaults):
    name = dataset = queries.DATASET
    split = queries.SPLIT
    title = "Stereotypes in multimodal models"
    paper = "Jiang et al., ModSCAN (EMNLP 2024)"
    configs = queries.CONFIGS
    default_configs = queries.OF_PERSONAS
    defaults = {
        "configs": lambda settings: queries.CONFIGS if settings.pictures.faces else queries.OF_PERSONAS,
        "protocol": "generate",
        "temperature": 0.0,
        "max_new_tokens": 64,
    }
    options = ("order", "pictures", "role", "box_scale", "real_shares")
    shows_pictures = True
    answers_are_shares = False
    digits = 4
    design_columns = ("scenario", "attribute", "instance", "shared")
    drawn_together = ("scenario", "attribute", "instance", "pair")
    metric = "association_score"
    cluster_column = "pair"

    def __init__(self) -> None:
        self._splicer = Splicer()

    def check(self, settings: Settings) -> None:
        if settings.protocol != "generate":
            raise UsageError(f"{self.name} reads what a model writes: --protocol generate is accepted")
        if settings.runs > 1 and not settings.temperature:
            raise UsageError("--runs above 1 needs answers that differ: a --temperature above 0")
        if settings.role is not None and not (settings.role.strip() and settings.role.isprintable()):
            raise UsageError(f'--role {settings.role!r} came; whom to act as is accepted, in a line ("Barack Obama")')
        pictures, configs = settings.pictures, settings.configs
        if pictures.faces is None and (pictures.faces_table or any(each in queries.OF_FACES for each in configs)):
            raise UsageError(
                f"{', '.join(queries.OF_FACES)} show faces, which are never shipped: --faces DIR is accepted, a folder "
                f"of UTKFace files or of those in --faces-table (or --faces {queries.REHEARSAL})"
            )
        if pictures.faces == queries.REHEARSAL and pictures.faces_table:
            raise UsageError(f"--faces {queries.REHEARSAL} has its own labels: --faces-table is for a folder of faces")
        if pictures.faces is not None and not any(each in queries.OF_FACES for each in configs):
            raise UsageError(f"--faces is for {', '.join(queries.OF_FACES)}; --config names none of these")
        if pictures.images is not None and not any(each in queries.OF_PERSONAS for each in configs):
            raise UsageError(f"--images is for {', '.join(queries.OF_PERSONAS)}; --config names none of these")
        if pictures.faces is None and pictures.pairs != LIMIT:
            raise UsageError(f"--pairs is for {', '.join(queries.OF_FACES)}; they need --faces")
        if settings.order != "paper" and not any(each in queries.OF_PERSONAS for each in configs):
            raise UsageError(
                f"--order is for {', '.join(queries.OF_PERSONAS)}; faces are shown in both orders in any case"
            )
        if settings.box_scale is not None and settings.box_scale != "pixels" and not settings.box_scale > 0:
            raise UsageError(f"--box-scale {settings.box_scale} came; the greatest coordinate is accepted, or pixels")
        if settings.real_shares:
            read_real_shares(Path(settings.real_shares))

    def load_options(self, config: str, settings: Settings) -> dict[str, object]:
        pictures = settings.pictures
        if config in queries.OF_FACES:
            of_faces = asdict(pictures)
            del of_faces["images"]
            return {**of_faces, "seed": settings.seed, "spliced": False}
        return {"images": pictures.images, "order": settings.order, "seed": settings.seed, "spliced": False}

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        return rows.cast_column("image", datasets.Image(decode=False)), queries.notes_of(rows)

    def picture(self, row: Row) -> bytes:
        """Spliced when it is asked for: of many rows few may be drawn, and no copies of faces are left on the disk."""
        if row["left"] is not None:
            return self._splicer.png(Path(row["left"]), Path(row["right"]))
        return encoded(row["image"])

    def episode(self, row: Row, settings: Settings, run: int = 0) -> Episode:
        picture = Image(self.picture(row))
        prompt = row["prompt"]
        if settings.role is not None:
            prompt = f"{ROLE.text.format(role=settings.role)} {prompt}"
        name = row["id"] + run_name(run)
        request = Request(
            messages=(Message("user", (picture, prompt)),),
            sampling=settings.sampling(),
            seed=derive_seed(settings.seed, name),
            name=name,
        )
        [reply] = yield [request]
        side = None if row["scenario"] == "persona" else read_side(reply.text, _scale(settings, picture))
        if row["scenario"] == "persona":
            chosen = read_social_term(reply.text, row["attribute"], row["candidates"])
        else:
            chosen = None if side is None else row["candidates"][SIDES.index(side)]
        design = ("pair", "scenario", "attribute", "instance", "candidates", "swapped", "age", "shared", "rehearsal")
        return [
            {
                "id": name,
                "row": row["id"],
                "run": run,
                "config": f"{row['scenario']}_{row['attribute']}",
                **{column: row[column] for column in design},
                "prompt": prompt,
                "text": reply.text,
                "finish_reason": reply.finish_reason,
                "side": side,
                "chosen": chosen,
            }
        ]

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        """Each configuration's figures under `configs`; those of the only one at the top, too."""
        scored = {str(config): _score(self.metric, of) for config, of in predictions.groupby("config", sort=False)}
        n, n_read = (sum(of[key] for of in scored.values()) for key in ("n", "n_read"))
        whole: dict[str, Any] = {"n": n, "n_read": n_read, "unread_rate": 1 - n_read / n}
        if len(scored) == 1:
            [whole] = ({**of} for of in scored.values())
        whole["configs"] = scored
        whole["rehearsal"] = bool(predictions["rehearsal"].any())
        alone = len(scored) == 1
        whole["warnings"] = [
            note if alone else f"{config}: {note}" for config, of in scored.items() for note in of["warnings"]
        ]
        if settings.real_shares:
            whole["real_shares"] = read_real_shares(Path(settings.real_shares))
            whole["warnings"] += _unasked(whole["real_shares"], predictions["instance"].unique())
        return whole

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        configs = predictions["config"].map(findings.in_words)
        return _value(predictions, configs + ": answered", predictions["chosen"].notna())

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        configs = predictions["config"].map(findings.in_words)
        return pd.concat(
            [_shares(predictions, configs), _shares(predictions, configs + ", " + predictions["instance"])]
        )

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        return side_by_side.panels(runs)

    def headline_differences(self, first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
        return side_by_side.headline_differences(first, second)

    def published(self, settings: Settings) -> dict[str, Any]:
        """Table 2, where these settings are the paper's protocol."""
        papers = settings.mitigation is None and settings.role is None and settings.order == "paper"
        whole = settings.limit is None and settings.pictures.pairs == LIMIT
        if not (papers and whole) or settings.pictures.faces == queries.REHEARSAL:
            return {}
        return {"source": published.SOURCE, "figures": published.table_2(settings.configs)}

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return findings.findings(predictions, results)


def _scale(settings: Settings, picture: Image) -> float | tuple[float, float] | None:
    """Of bounding boxes in this picture."""
    if settings.box_scale == "pixels":
        with PictureFile.open(io.BytesIO(picture.data)) as opened:
            return opened.size
    return settings.box_scale


def _unasked(shares: Iterable[str], asked: Sequence[str]) -> list[str]:
    """What is said of shares in the world that stand beside nothing: a name may be written otherwise."""
    unasked = sorted(set(shares) - set(asked))
    if not unasked:
        return []
    more = f" and {len(unasked) - NAMED:,} more" if len(unasked) > NAMED else ""
    return [
        f"real shares that are not shown, for nothing was asked about these: {', '.join(unasked[:NAMED])}{more}; asked "
        f"about were {', '.join(asked)}"
    ]


def _score(metric: str, predictions: pd.DataFrame) -> dict[str, Any]:
    """The metric's result for one configuration, and for pictures of things how often the first listed was chosen."""
    columns = {name: predictions[name].tolist() for name in ("attribute", "scenario", "instance")}
    candidates = [list(each) for each in predictions["candidates"]]
    chosen = predictions["chosen"].fillna("").tolist()
    of_faces = columns["scenario"][0] != "persona"
    scored: dict[str, Any] = load_metric(metric).compute(
        predictions=chosen,
        references=[
            {"attribute": attribute, "scenario": scenario, "instance": instance, "candidates": offered}
            for attribute, scenario, instance, offered in zip(*columns.values(), candidates)
        ],
        clusters=predictions["pair"].tolist(),
        positions=predictions["side"].fillna("").tolist() if of_faces else None,
        by={"shared": predictions["shared"].tolist()} if of_faces else None,
    )
    if not of_faces:
        read = [(offered[0], group) for offered, group in zip(candidates, chosen) if group]
        scored["first_listed_share"] = sum(first == group for first, group in read) / len(read) if read else None
    return scored


def _shares(predictions: pd.DataFrame, names: pd.Series) -> pd.DataFrame:
    """For each group 1 where it was chosen and 0 where another was, NaN for unread.

    Of two groups the first alone: the other's share is what is left.
    """
    chosen = predictions["chosen"]
    parts = []
    for attribute, groups in GROUPS.items():
        for group in groups[:1] if len(groups) == 2 else groups:
            offered = [group in list(candidates) for candidates in predictions["candidates"]]
            asked = np.array(offered) & (predictions["attribute"] == attribute).to_numpy()
            value = (chosen == group).astype(float).where(chosen.notna())
            parts.append(_value(predictions, names + f": {group}", value)[asked])
    return pd.concat(parts)


def _value(predictions: pd.DataFrame, names: pd.Series, values: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {"figure": names, "id": predictions["id"], "value": values.astype(float), "cluster": predictions["pair"]}
    )
