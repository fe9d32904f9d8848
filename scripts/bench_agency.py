"""How fast sentences are labelled: evenhand beside one sentence at a time padded to the model's longest input.

Both label the same sentences with the same checkpoint and cores:

- evenhand: AgencyClassifier, batches of like length
- published: one sentence at a time, padded to 512 tokens, as LABE's published scripts do

What the token count promises is the speed of reading the sentences' own tokens at as many tokens a second as the
published way reads its padded ones.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import transformers
from benching import Line, measured, per_second, seconds

from evenhand.benchmarks.labe.texts import read_texts
from evenhand.command_line import ScriptHelp, whole
from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.language_agency.named_classifiers import DEFAULT, load_classifier
from evenhand.language_agency.sentences import split_sentences
from evenhand.library import load_dataset


def published(classifier: AgencyClassifier, sentences: list[str]) -> np.ndarray:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--classifier", default=DEFAULT, help="default, a Hub id, or a local folder")
    parser.add_argument("--texts", type=Path, help="a file of texts ; by default the sentences of language_agency")
    parser.add_argument("--sentences", type=whole(), default=4000, help="at most")
    parser.add_argument("--published-sentences", type=whole(), default=100, help="of these, for the published way")
    parser.add_argument("--rounds", type=whole(), default=3, help="of timing")
    measured(parser, measure)


def measure(arguments: argparse.Namespace) -> Iterator[Line]:
    transformers.utils.logging.disable_progress_bar()

    classifier = load_classifier(arguments.classifier)
    if not isinstance(classifier, AgencyClassifier):
        raise SystemExit(f"classifier {arguments.classifier!r} has no weights to compare")
    if arguments.texts:
        texts = read_texts(arguments.texts).rows["text"]
        sentences = [sentence for text in texts for sentence in split_sentences(text)]
    else:
        sentences = [text for rows in load_dataset("language_agency").values() for text in rows["text"]]
    sentences = list(dict.fromkeys(sentences))[: arguments.sentences]
    step = max(1, len(sentences) // arguments.published_sentences)
    some = sentences[::step]

    def n_tokens(of: list[str]) -> int:
        encoded = classifier.tokenizer(of, truncation=True, max_length=classifier.longest)["input_ids"]
        return sum(map(len, encoded))

    classifier.agentic_probabilities(sentences[:64])  # to warm up
    agentic, agentic_published = classifier.agentic_probabilities(sentences), published(classifier, some)
    ours = per_second(len(sentences), seconds(lambda: classifier.agentic_probabilities(sentences), arguments.rounds))
    theirs = per_second(len(some), seconds(lambda: published(classifier, some), arguments.rounds))
    speed, published_speed = max(ours), max(theirs)
    promised = published_speed * classifier.longest / (n_tokens(sentences) / len(sentences))
    print(
        f"{len(sentences):,} sentences, {n_tokens(sentences) / len(sentences):.1f} tokens on average; "
        f"{torch.get_num_threads()} threads, torch {torch.__version__}, {classifier.identity}"
    )
    print(f"best of {arguments.rounds} rounds:")
    print(f"  evenhand   {speed:9.1f} sentences/s   {speed / published_speed:6.1f} x published")
    print(f"  published  {published_speed:9.1f} sentences/s   on {len(some)} of them")
    print(f"the token count promises {promised:.1f} sentences/s; evenhand reaches {speed / promised:.0%} of it")
    apart = np.abs(agentic[::step] - agentic_published)
    other = int(((agentic[::step] > 0.5) != (agentic_published > 0.5)).sum())
    print(f"probabilities {apart.max():.1e} apart at most, {other} of {len(some)} labels differ")

    rough = AgencyClassifier(classifier.model.to(torch.bfloat16), classifier.tokenizer, "bfloat16")
    rough.agentic_probabilities(sentences[:64])
    roughly = rough.agentic_probabilities(sentences)
    fast = per_second(len(sentences), seconds(lambda: rough.agentic_probabilities(sentences), arguments.rounds))
    rival = "one at a time, padded to 512 tokens, as LABE's scripts"
    remark = f"{other} of {len(some)} labels differ"
    yield Line("labels of sentences, float32", "sentences/s", ours, rival, theirs, remark)
    other = int(((agentic > 0.5) != (roughly > 0.5)).sum())
    remark = f"the rival in float32; {other} of {len(sentences):,} labels differ"
    yield Line("labels of sentences, bfloat16", "sentences/s", fast, rival, theirs, remark)


if __name__ == "__main__":
    main()
