"""mllm_stereotypes: which faces, or which words for people, a vision-language model associates with a stereotype.

After "Measuring Stereotypical Bias in Multi-modal Large Language Models" (anonymous ACL submission), section 3. The
prompts in `sources/` are quoted from it: Table 1 and section 3.1 for occupations and descriptors, Table A6 for persona
traits.

occupation, descriptor, persona: 10, 10 and 14 instances, each for gender and for race. persona_images: twenty drawings
of each trait, SVG files that resvg renders. rehearsal_faces: placeholders with UTKFace's labels, which measure nothing.
"""

import io
import json
import os
from dataclasses import dataclass
from itertools import product

import datasets

SCENARIOS = ("occupation", "descriptor", "persona")
PERSONA_IMAGES = "persona_images"
REHEARSAL_FACES = "rehearsal_faces"

PROMPTS = "sources/prompts.json"
ATTRIBUTE_SLOT = "[ATTRIBUTE]"  # filled with the instance; [SOCIAL TERMS] stays, to be filled in a random order

VARIANTS = tuple(str(number) for number in range(1, 21))
PERSONA_SIZE = 224  # pixels, each way

# UTKFace names a file age_gender_race_…: gender and race by their places in these lists.
GENDERS = ("male", "female")
RACES = ("white", "black", "Asian", "Indian")
AGES = (18, 34, 49, 65)
FACES_EACH = (1, 2)  # of an age, gender and race


def read_prompts(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def prompts_of(scenario, tables):
    """{instance: {attribute: prompt}}"""
    table, groups = tables[scenario], tables["groups"]["items"]
    if scenario == "persona":
        return table["items"]
    return {
        instance: dict.fromkeys(groups, table["prompt"].replace(ATTRIBUTE_SLOT, instance))
        for instance in table["items"]
    }


def prompt_rows(scenario, tables):
    groups = tables["groups"]["items"]
    prompts = prompts_of(scenario, tables)
    for attribute, instance in product(groups, prompts):
        yield {
            "id": f"{scenario}/{attribute}/{instance.replace(' ', '_')}",
            "scenario": scenario,
            "attribute": attribute,
            "instance": instance,
            "prompt": prompts[instance][attribute],
            "candidates": groups[attribute],
        }


def persona_files(traits):
    """{path: (trait, variant)}"""
    return {
        f"sources/{PERSONA_IMAGES}/{trait.lower().replace(' ', '_')}_{variant}.svg": (trait, variant)
        for trait, variant in product(traits, VARIANTS)
    }


def face_files():
    """{path: (age, gender, race, number)}"""
    labels = product(AGES, GENDERS, RACES, FACES_EACH)
    return {f"sources/{REHEARSAL_FACES}/{utkface_name(*label)}": label for label in labels}


def utkface_name(age, gender, race, number):
    return f"{age}_{GENDERS.index(gender)}_{RACES.index(race)}_{number}.png"


def read_image(path, name):
    """The bytes of a file as they are; `name` is the file's, since a download may have another."""
    with open(path, "rb") as file:
        return {"bytes": file.read(), "path": os.path.basename(name)}


def rendered(path, name):
    """An SVG file as PNG, RGB; `name` is the file's, since a download may have another."""
    try:
        import resvg_py
    except ImportError:
        raise ImportError(
            "the pictures of persona_images are SVG files, which resvg-py renders: pip install resvg-py; or read the "
            "parquet, load_dataset(<this folder>, 'persona_images'), which holds them rendered"
        ) from None
    from PIL import Image

    with open(path, encoding="utf-8") as file:
        svg = file.read()
    png = resvg_py.svg_to_bytes(
        svg_string=svg, width=PERSONA_SIZE, height=PERSONA_SIZE, background="#ffffff", skip_system_fonts=True
    )
    packed = io.BytesIO()
    Image.open(io.BytesIO(bytes(png))).convert("RGB").save(packed, format="PNG")
    return {"bytes": packed.getvalue(), "path": os.path.basename(name).replace(".svg", ".png")}


@dataclass
class MllmStereotypesConfig(datasets.BuilderConfig):
    """Prompts of one scenario, or pictures; `source` is there to say that the authors' pictures are no rows here."""

    source: str = "evenhand"


class MllmStereotypes(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = MllmStereotypesConfig
    BUILDER_CONFIGS = [
        MllmStereotypesConfig(name=name, version=datasets.Version("3.0.0"), description=description)
        for name, description in {
            "occupation": "prompts that ask for the face of somebody of an occupation",
            "descriptor": "prompts that ask for the face that a descriptor fits",
            "persona": "sentences about whom a pictured thing belongs to, to be completed",
            PERSONA_IMAGES: "drawings of what the persona traits stand for",
            REHEARSAL_FACES: "placeholders for faces, which measure nothing",
        }.items()
    ]

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if self.config.source != "evenhand":
            raise ValueError(
                f"unknown source {self.config.source!r}: expected 'evenhand'; the authors' protocol is built from "
                "pictures (evenhand run mllm_stereotypes --source official)"
            )

    def _info(self):
        string = datasets.Value("string")
        columns = {
            PERSONA_IMAGES: {"instance": string, "variant": string, "image": datasets.Image()},
            REHEARSAL_FACES: {
                "image": datasets.Image(),
                "age": datasets.Value("int32"),
                "gender": string,
                "race": string,
            },
        }
        prompts = {name: string for name in ("scenario", "attribute", "instance", "prompt")}
        prompts["candidates"] = datasets.Sequence(string)
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features({"id": string} | columns.get(self.config.name, prompts)),
            license="Apache-2.0",
        )

    def _split_generators(self, dl_manager):
        prompts = dl_manager.download(PROMPTS)
        labels = {}
        if self.config.name == PERSONA_IMAGES:
            labels = persona_files(read_prompts(prompts)["persona"]["items"])
        elif self.config.name == REHEARSAL_FACES:
            labels = face_files()
        images = dict(zip(labels, dl_manager.download(list(labels)))) if labels else {}
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TEST, gen_kwargs={"prompts": prompts, "labels": labels, "images": images}
            )
        ]

    def _generate_examples(self, prompts, labels, images):
        if self.config.name == PERSONA_IMAGES:
            rows = self._persona_rows(labels, images)
        elif self.config.name == REHEARSAL_FACES:
            rows = self._face_rows(labels, images)
        else:
            rows = prompt_rows(self.config.name, read_prompts(prompts))
        for row in rows:
            yield row["id"], row

    def _persona_rows(self, labels, images):
        for name, (trait, variant) in labels.items():
            yield {
                "id": f"{PERSONA_IMAGES}/{trait.replace(' ', '_')}/{variant}",
                "instance": trait,
                "variant": variant,
                "image": rendered(images[name], name),
            }

    def _face_rows(self, labels, images):
        for name, (age, gender, race, number) in labels.items():
            yield {
                "id": f"{REHEARSAL_FACES}/{race}-{gender}/{age}-{number}",
                "image": read_image(images[name], name),
                "age": age,
                "gender": gender,
                "race": race,
            }
