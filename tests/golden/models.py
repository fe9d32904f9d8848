"""Models of golden runs: stubs that lean to one side, leave some answers unread, and say the same on every machine."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

from evenhand.models.request import Reply
from evenhand.models.stub import StubModel
from tests.benchmarks.implicit_bias.stub_agents import Oracle
from tests.benchmarks.implicit_bias.test_case_study import Student

UNREAD = 0.06
SAID = "I would rather not say."


class Leaning(StubModel):
    """Draws by its salt, the more often an early one the higher `lean` is; leaves a share of answers unread.

    texts: what it may write: those that the question names, else any.
    """

    def __init__(self, salt: str, lean: float = 1.0, texts: tuple[str, ...] = (), unread: float = UNREAD):
        super().__init__("random")
        self.salt, self.lean, self.texts, self.unread = salt, lean, texts, unread

    @property
    def identity(self) -> str:
        return f"stub:leaning {self.salt}"

    def reply(self, request):
        draw = random.Random(f"{self.salt} {request.seed} {request.messages[-1].text}")
        asked = request.messages[-1].text
        named = [text for text in self.texts if re.search(rf"\b{re.escape(text)}\b", asked)]
        options = request.choices or named or self.texts or asked.split()
        unread, place = draw.random() < self.unread, int(len(options) * draw.random() ** self.lean)
        if not request.choices:
            return Reply(text=SAID if unread else options[place])
        sure = 1 / len(options) if unread else 0.6 + 0.39 * draw.random()
        rest = (1 - sure) / max(1, len(options) - 1)
        log_probs = tuple((math.log(sure if k == place else rest),) for k in range(len(options)))
        return Reply(finish_reason="choice", choice_log_probs=log_probs)


def _one_in_ten(*parts: object) -> bool:
    return random.Random(" ".join(map(str, parts))).random() < 0.1


class Assigning(Oracle):
    """Tasks to characters by lot; one in ten assignments that it writes can't be read."""

    def __init__(self, salt: str):
        super().__init__(lambda scenario: self._drawn(scenario), f"stub:assigning {salt}")
        self.salt = salt

    def _drawn(self, scenario):
        characters = list(scenario.characters)
        random.Random(f"{self.salt} {scenario.characters} {scenario.tasks}").shuffle(characters)
        return tuple(characters)

    def reply(self, request):
        found = super().reply(request)
        asked = not request.choices and "Assign one" in request.messages[-1].text
        unread = asked and _one_in_ten(self.salt, request.seed, *(each.text for each in request.messages))
        return Reply(SAID) if unread else found


class Naming(Student):
    """Names people by lot, with reasons of two kinds; one in ten names that it writes can't be read."""

    def __init__(self, salt: str):
        super().__init__(self._drawn, f"stub:naming {salt}", lambda who: f"{who.name} leads and is kind.")
        self.salt = salt

    def _drawn(self, case, agent):
        characters = list(case.characters)
        random.Random(f"{self.salt} {case.kind} {case.prompt} {agent.name}").shuffle(characters)
        return tuple(characters) if case.tasks else tuple(characters[:1])

    def reply(self, request):
        found = super().reply(request)
        unread = not request.choices and _one_in_ten(self.salt, request.seed, *(each.text for each in request.messages))
        return Reply(SAID) if unread else found


def classifier(folder: Path, seed: int, corpus: Path) -> Path:
    """A tiny BERT of sentences whose weights are drawn by a seed, as `--classifiers` takes it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(corpus.read_text(encoding="utf-8").splitlines(), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|end|>", pad_token="<|end|>")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=16, max_position_embeddings=512, pad_token_id=tokenizer.pad_token_id,
            initializer_range=0.5, id2label={0: "communal", 1: "agentic"}, label2id={"communal": 0, "agentic": 1},
        )  # fmt: skip
        model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    record = {"data": "none", "seed": seed, "judged": {"test": {"accuracy": 50.0, "intervals": {"accuracy": [40, 60]}}}}
    (folder / "agency.json").write_text(json.dumps(record))
    return folder
