"""labe: prompts for biographies, professor reviews and reference letters about people of each race and gender.

After Wan and Chang, "White Men Lead, Black Women Help? Benchmarking and Mitigating Language Agency Social Biases in
LLMs" (ACL 2025), Appendix A. The templates and descriptors in `sources/` are the paper's Tables 4 to 6, so the rows are
the 5,400 prompts of its Language Agency Bias Evaluation (LABE) benchmark.

Names (5 for each race and gender) × 5 ages × 12 occupations: 2,400 biographies and as many reference letters; names ×
15 departments: 600 professor reviews.
"""

import json
from dataclasses import dataclass
from itertools import product

import datasets

TEXT_TYPES = ("biography", "professor_review", "reference_letter")
DESCRIPTORS = "sources/descriptors.json"


def read_tables(path):
    """{what: the items of its table}, without the tables' names."""
    with open(path, encoding="utf-8") as file:
        return {what: table["items"] for what, table in json.load(file).items()}


def circumstances(text_type, tables):
    """The descriptors that a text type has beside name, race and gender; those it does not use are None."""
    if text_type == "professor_review":
        return [{"age": None, "occupation": None, "department": department} for department in tables["departments"]]
    return [
        {"age": age, "occupation": occupation, "department": None}
        for age, occupation in product(tables["ages"], tables["occupations"])
    ]


def prompts(text_type, tables):
    """All rows of a text type; the 8 prompts of a combination, one for each race and gender, follow one another.

    Names have no counterpart in another group, so the place in Table 5's list, counted from 1, stands for them.
    """
    template = tables["templates"][text_type]
    names = tables["names"]
    groups = [(race, gender) for race in names for gender in names[race]]
    places = range(len(names["White"]["male"]))  # as many in every group
    for place, circumstance in product(places, circumstances(text_type, tables)):
        parts = [str(place + 1), *(str(value) for value in circumstance.values() if value is not None)]
        for race, gender in groups:
            person = {"name": names[race][gender][place], "race": race, "gender": gender} | circumstance
            yield {
                "id": f"{text_type}/{race}-{gender}/{'-'.join(parts).replace(' ', '_')}",
                "text_type": text_type,
                **person,
                "combination": "/".join(parts),
                "prompt": template.format_map(person | {"department name": person["department"]}),
            }


@dataclass
class LabeConfig(datasets.BuilderConfig):
    """One text type, which is its name; `source` is there to say that no other is published than the paper's tables."""

    source: str = "evenhand"


class Labe(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = LabeConfig
    BUILDER_CONFIGS = [
        LabeConfig(
            name=text_type,
            version=datasets.Version("1.0.0"),
            description=f"prompts for a {text_type.replace('_', ' ')}",
        )
        for text_type in TEXT_TYPES
    ]

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if self.config.source != "evenhand":
            raise ValueError(
                f"unknown source {self.config.source!r}: only 'evenhand' is accepted, since the prompts are the "
                "paper's own tables"
            )

    def _info(self):
        string = datasets.Value("string")
        columns = [
            *("id", "text_type", "name", "age", "race", "gender", "occupation", "department"),
            *("combination", "prompt"),
        ]
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features({name: string for name in columns} | {"age": datasets.Value("int32")}),
            license="Apache-2.0",
        )

    def _split_generators(self, dl_manager):
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TEST, gen_kwargs={"descriptors": dl_manager.download(DESCRIPTORS)}
            )
        ]

    def _generate_examples(self, descriptors):
        for row in prompts(self.config.name, read_tables(descriptors)):
            yield row["id"], row
