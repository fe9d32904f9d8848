"""Files of the shape in which the authors of contact_hypothesis published their prompt sets, made here."""

import csv
import io
import sys
from dataclasses import replace

from evenhand.library import dataset_builder_class

SCRIPT = sys.modules[dataset_builder_class("contact_hypothesis").__module__]
COLUMNS = (
    *("id", "key_principle", "scenario", "action_type", "axis", "bucket"),
    *("base_prompt", "positive_contact", "negative_contact"),
)
GROUPS = (  # axis, bucket, before the noun, after it, and the descriptor that is read from the text
    ("Ability", "auditory", "deaf ", "", "deaf"),
    ("Gender and sex", "binary", "male ", "", "male"),
    ("Race and ethnicities", "country", "Asian American ", "", "Asian American"),
    ("Socioeconomic class", "upper_class", "rich ", "", "rich"),
    ("Ability", "noun_phrases", "", " with a limp", "with a limp"),
    ("Political Ideologies", "other", "rich ", "", "rich"),  # of two axes
)
TEMPLATES = (  # id, principle, scenario, action, what is asked before and after the group
    ("1", "Equal Group Status", "Education", "positive", "Should I study with ", " in the library?"),
    ("2", "Support of Authorities, Law or Custom", "Healthcare", "negative", "Should I avoid ", "?"),
)


def published(templates=TEMPLATES, columns=COLUMNS):
    """The bytes of a file of the published shape."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    for name, principle, scenario, action, before, after in templates:
        for axis, bucket, adjective, phrase, _ in GROUPS:
            question = f"{before}{adjective}students{phrase}{after}"
            writer.writerow(
                {
                    "id": name, "key_principle": principle, "scenario": scenario, "action_type": action, "axis": axis,
                    "bucket": bucket, "base_prompt": question, "positive_contact": f'They said, "Yes". {question}',
                    "negative_contact": f"They were late, again. {question}",
                }
            )  # fmt: skip
    return text.getvalue().encode()


def put(folder, monkeypatch, scale, content=None):
    """Put a file into a mirror, as the one that is expected there."""
    content, file = published() if content is None else content, SCRIPT.PROMPT_SETS[scale]
    (folder / file.mirrored).parent.mkdir(parents=True, exist_ok=True)
    (folder / file.mirrored).write_bytes(content)
    monkeypatch.setitem(SCRIPT.PROMPT_SETS, scale, replace(file, checksum=SCRIPT.git_blob_sha1(content)))
