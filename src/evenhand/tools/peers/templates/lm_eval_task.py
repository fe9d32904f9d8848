"""A task of lm-evaluation-harness that evenhand wrote: the questions are in items.jsonl beside this file.

Each figure is the mean of what answers count, as `evenhand run` reports it; what can't be read counts in no figure but
`unread`. An option is as likely as the mean (or sum) of its tokens' log-probabilities: those after the prompt, without
the white space that ends a chat template's prompt and that lm_eval reads as a part of the option. A written answer that
was cut off counts what it names; a run leaves it unread unless it begins with the option.
"""

import json
import sys
from pathlib import Path

import datasets
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # of the reader, which evenhand wrote beside this file
from short_answers import Option, read_option  # noqa: E402

SETTINGS = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))
WRITES = SETTINGS["protocol"] == "generate"


class Evenhand(ConfigurableTask):
    VERSION = SETTINGS["version"]

    def __init__(self, config=None):
        self._tokenizer = None
        self._lengths = {}  # {id of a question: tokens of each option}
        super().__init__(
            config={
                "task": SETTINGS["task"],
                "output_type": "generate_until" if WRITES else "multiple_choice",
                "test_split": "test",
                "metadata": {**(config or {}).get("metadata", {}), "version": SETTINGS["version"]},
            }
        )

    def download(self, dataset_kwargs=None, **kwargs):
        self.dataset = datasets.load_dataset("json", data_files={"test": str(HERE / "items.jsonl")})

    def has_training_docs(self):
        return False

    def has_validation_docs(self):
        return False

    def doc_to_text(self, doc, doc_to_text=None):
        return doc["messages"][-1]["content"]

    def doc_to_choice(self, doc, doc_to_choice=None):
        return doc["choices"]

    def doc_to_target(self, doc, doc_to_target=None):
        """No answer is the right one: figures say what each counts."""
        return ""

    def fewshot_context(self, doc, num_fewshot=0, *, apply_chat_template=False, chat_template=None, **_):
        if num_fewshot:
            raise ValueError(f"{SETTINGS['task']} asks without examples: leave --num_fewshot out")
        if not SETTINGS["template"]:
            if apply_chat_template:
                raise ValueError(f"{SETTINGS['task']} has prompts to the letter: leave --apply_chat_template out")
            return doc["messages"][0]["content"]
        if apply_chat_template:
            return chat_template(doc["messages"])
        return "\n\n".join(message["content"] for message in doc["messages"])

    def construct_requests(self, doc, ctx, chat_template=None, apply_chat_template=False, **kwargs):
        if WRITES:
            sampling = {"until": [], "do_sample": False, "max_gen_toks": SETTINGS["max_new_tokens"]}
            return [Instance("generate_until", doc, (ctx, sampling), 0, **kwargs)]
        space = "" if apply_chat_template or ctx[-1:].isspace() else " "
        asked = [(ctx, space + choice) for choice in doc["choices"]]
        stripped = ctx.rstrip()
        if stripped != ctx:
            asked.append((stripped, ctx[len(stripped) :]))
        if SETTINGS["aggregate"] == "mean":
            self._lengths[doc["id"]] = [
                self._n_tokens(ctx, ctx + space + choice, not apply_chat_template) for choice in doc["choices"]
            ]
        return [Instance("loglikelihood", doc, each, i, **kwargs) for i, each in enumerate(asked)]

    def _n_tokens(self, prompt, whole, special_tokens):
        """Of what follows the prompt, or follows where the tokens of both part."""
        if self._tokenizer is None:
            self._tokenizer = _tokenizer(self.config.metadata)
        before, tokens = (self._tokenizer.encode(text, add_special_tokens=special_tokens) for text in (prompt, whole))
        shared = 0
        while shared < min(len(before), len(tokens)) and before[shared] == tokens[shared]:
            shared += 1
        return len(tokens) - shared

    def process_results(self, doc, results):
        place = _written(results[0], doc["choices"]) if WRITES else self._likeliest(doc, [each[0] for each in results])
        found = {"unread": 100.0 * (place is None)}
        for figure in doc["figures"]:
            found[_named(figure["name"])] = None if place is None else figure["values"][place]
        return found

    def _likeliest(self, doc, log_probs):
        n = len(doc["choices"])
        space = log_probs[n] if len(log_probs) > n else 0.0
        lengths = self._lengths.get(doc["id"], [1] * n)
        means = [(log_prob - space) / length for log_prob, length in zip(log_probs, lengths)]
        best = [place for place, mean in enumerate(means) if mean == max(means)]
        return best[0] if len(best) == 1 else None

    def aggregation(self):
        return {name: _mean for name in self._names()}

    def higher_is_better(self):
        return {name: None for name in self._names()}

    def _names(self):
        return ["unread", *(_named(name) for name in SETTINGS["figures"])]


def _mean(values):
    read = [each for each in values if each is not None]
    return sum(read) / len(read) if read else float("nan")


def _named(figure):
    """A comma parts a metric from its filter here."""
    return figure.replace(", ", "/")


def _written(text, choices):
    """The place of the option that a text gives; None where it gives none of them, or several."""
    return read_option(text, [Option((each.lower(),), bare=True) for each in choices])


def _tokenizer(metadata):
    from transformers import AutoTokenizer

    name = metadata.get("tokenizer") or metadata.get("pretrained")
    if not name:
        raise ValueError(
            "options are compared by the mean over their tokens, which the model's tokenizer tells: give it as "
            "--metadata '{\"tokenizer\": NAME}', or export with --aggregate sum"
        )
    return AutoTokenizer.from_pretrained(name)
