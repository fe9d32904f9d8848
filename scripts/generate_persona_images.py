"""Paint pictures of the 14 persona traits by Table A5's prompts, look for people in them, keep some (Jiang et al.).

python scripts/generate_persona_images.py --output personas
python scripts/generate_persona_images.py --traits "Luxury Car" Active --generate 20 --keep 10 --output try

Needs diffusers (pip install 'evenhand[vision]') and, for 400 pictures of every trait, a GPU for some hours. The paper
keeps pictures with a person; by default ours are those without, since a person in the picture answers the question
whose it is. --people keep is the paper's way. Of each trait pictures are painted until enough qualify; they lie in a
folder a trait, the others in not_kept there. A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

from generating import generate
from rich.console import Console

from evenhand.benchmarks.mllm_stereotypes.persona_images import TRAITS
from evenhand.benchmarks.mllm_stereotypes.persona_making import (
    GENERATED,
    KEPT,
    PEOPLE,
    Count,
    ImageSettings,
    make_persona_images,
)
from evenhand.benchmarks.mllm_stereotypes.persona_models import (
    DETECTOR,
    PAINTER,
    THRESHOLD,
    DiffusersPainter,
    TransformersDetector,
)
from evenhand.command_line import ScriptHelp, whole
from evenhand.progress import ProgressBar
from evenhand.report.tables import Cell, Table, count, print_table


def main() -> None:
    options = parse()
    settings, counts = generate("generate_persona_images", lambda bar: make(options, bar))
    rows = tuple((Cell(trait), *map(count, numbers)) for trait, *numbers in counts)
    note = f"Kept are {PEOPLE[settings.people]}. Withheld: by the painter's safety checker."
    columns = ("trait", "painted", "withheld", "kept")
    print_table(Table("Persona images", columns, rows, note), Console(width=128))
    for each in counts:
        if each.kept < settings.keep:
            print(
                f"Warning: {each.trait}: {each.kept:,} of {each.painted:,} pictures are kept, not {settings.keep:,}, "
                f"since no more qualify ({PEOPLE[settings.people]} do)",
                file=sys.stderr,
            )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--traits", nargs="+", default=TRAITS, metavar="NAME", help="'Art Lover' …")
    parser.add_argument("--generate", type=whole(), default=GENERATED, metavar="N", help="maximum for each trait")
    parser.add_argument("--keep", type=whole(), default=KEPT, metavar="N", help="pictures to keep of each trait")
    kinds = "; ".join(f"{name}: {what}" for name, what in PEOPLE.items())
    parser.add_argument("--people", default="none", choices=list(PEOPLE), help=f"{kinds}")
    parser.add_argument("--seed", type=whole(0), default=0, metavar="S", help="of all that is drawn")
    parser.add_argument("--painter", default=PAINTER, metavar="MODEL", help="Hub id or folder")
    parser.add_argument("--painter-revision", metavar="REV", help="branch, tag or commit")
    parser.add_argument("--dtype", default="auto", choices=("auto", "float32", "bfloat16", "float16"), help="painter's")
    parser.add_argument("--steps", type=whole(), metavar="N", help="of denoising; by default the painter's own")
    parser.add_argument("--detector", default=DETECTOR, metavar="MODEL", help="Hub id or folder")
    parser.add_argument("--detector-revision", metavar="REV", help="branch, tag or commit")
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="least score of a person")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="a folder of its own")
    return parser.parse_args()


def make(options: argparse.Namespace, bar: ProgressBar) -> tuple[ImageSettings, list[Count]]:
    settings = ImageSettings(tuple(options.traits), options.generate, options.keep, options.people, options.seed)
    detector = None
    if settings.people != "any":
        detector = TransformersDetector.from_pretrained(
            options.detector, revision=options.detector_revision, threshold=options.threshold
        )
    painter = DiffusersPainter.from_pretrained(
        options.painter, revision=options.painter_revision, dtype=options.dtype, steps=options.steps
    )
    return settings, make_persona_images(settings, painter, detector, options.output, on_progress=bar.update)


if __name__ == "__main__":
    main()
