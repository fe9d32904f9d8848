"""Measure how fast sentences are labelled: in batches of similar length, and one at a time.

Both label the same sentences with the same checkpoint and cores: AgencyClassifier in batches, and one sentence at a
time padded to 512 tokens, as LABE's published scripts do.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import transformers
from bench import Line, bench_parser, per_second, run_bench, time_rounds

from evenhand.benchmarks.labe.texts import read_texts
from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.language_agency.named_classifiers import DEFAULT, load_classifier
from evenhand.language_agency.sentences import split_sentences
from evenhand.library import load_dataset

RIVAL = "one at a time, padded to 512 tokens, as LABE's scripts"


def label_one_by_one(classifier: AgencyClassifier, sentences: list[str]) -> np.ndarray:
    """Probability of agentic of each sentence, (sentences,)."""
    agentic = []
    for sentence in sentences:
        one = classifier.tokenizer(
            sentence, padding="max_length", truncation=True, max_length=classifier.longest, return_tensors="pt"
        )
        with torch.inference_mode():
            logits = classifier.model(**one).logits[:, classifier._columns].float()
        agentic.append(float(logits.softmax(dim=-1)[0, 1]))
    return np.array(agentic)


def measure(options: argparse.Namespace) -> Iterator[Line]:
    transformers.utils.logging.disable_progress_bar()
    classifier = load_classifier(options.classifier)
    if not isinstance(classifier, AgencyClassifier):
        raise SystemExit(f"classifier {options.classifier!r} has no weights to compare")
    if options.texts:
        sentences = [each for text in read_texts(options.texts).rows["text"] for each in split_sentences(text)]
    else:
        sentences = [text for rows in load_dataset("language_agency").values() for text in rows["text"]]
    sentences = list(dict.fromkeys(sentences))[: options.sentences]
    step = max(1, len(sentences) // options.published_sentences)
    some = sentences[::step]
    published = label_one_by_one(classifier, some)
    theirs = per_second(len(some), time_rounds(lambda: label_one_by_one(classifier, some), options.rounds))
    exact = classifier.agentic_probabilities(sentences)  # warms up, too
    ours = per_second(len(sentences), time_rounds(lambda: classifier.agentic_probabilities(sentences), options.rounds))
    others = int(((exact[::step] > 0.5) != (published > 0.5)).sum())
    apart = f"probabilities {np.abs(exact[::step] - published).max():.1e} apart at most"
    remark = f"{apart}, {others} of {len(some)} labels differ"
    yield Line("labels of sentences, float32", "sentences/s", ours, RIVAL, theirs, remark)
    rough = AgencyClassifier(classifier.model.to(torch.bfloat16), classifier.tokenizer, "bfloat16")
    others = int(((exact > 0.5) != (rough.agentic_probabilities(sentences) > 0.5)).sum())
    ours = per_second(len(sentences), time_rounds(lambda: rough.agentic_probabilities(sentences), options.rounds))
    remark = f"the rival in float32; {others} of {len(sentences):,} labels differ from evenhand's in float32"
    yield Line("labels of sentences, bfloat16", "sentences/s", ours, RIVAL, theirs, remark)


def main() -> None:
    parser = bench_parser(
        __doc__,
        sentences=(4000, "sentences at most"),
        published_sentences=(100, "of these, for the published way"),
        rounds=(3, "rounds of timing"),
    )
    parser.add_argument("--classifier", default=DEFAULT, help="default, a Hub id, or a local folder")
    parser.add_argument("--texts", type=Path, help="a file of texts; by default the sentences of language_agency")
    run_bench(parser, measure)


if __name__ == "__main__":
    main()
