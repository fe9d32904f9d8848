"""utility: what a model must still be able to do after a change that is to make it less biased.

Short questions of general knowledge with the answers that count, and neutral texts whose continuation is scored. No
question and no text is about people of any group.
"""

import json

import datasets

FIELDS = {"questions": "question", "texts": "text"}  # config: the column that only it has, besides answers
SOURCE = "sources/{config}.jsonl"
VERSION = datasets.Version("1.1.0")


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


class Utility(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="questions", version=VERSION, description="plain questions"),
        datasets.BuilderConfig(name="texts", version=VERSION, description="neutral texts"),
    ]

    def _info(self):
        string = datasets.Value("string")
        features = {"id": string, "topic": string, FIELDS[self.config.name]: string}
        if self.config.name == "questions":
            features["answers"] = datasets.Sequence(string)
        features["probe"] = datasets.Value("bool")
        return datasets.DatasetInfo(description=__doc__, features=datasets.Features(features), license="Apache-2.0")

    def _split_generators(self, dl_manager):
        path = dl_manager.download(SOURCE.format(config=self.config.name))
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        for entry in read_jsonl(path):
            yield entry["id"], entry
