"""Tiny vision-language checkpoints, random and built in code: each as on a model hub, with processor and tokenizer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPVisionConfig,
    GemmaConfig,
    Idefics2Config,
    Idefics3Config,
    InternVLConfig,
    LlamaConfig,
    LlavaConfig,
    MistralConfig,
    PaliGemmaConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2Config,
    Qwen2VLConfig,
    SiglipVisionConfig,
    SmolVLMConfig,
)
from transformers.models.auto import AutoModelForImageTextToText
from transformers.models.paligemma.processing_paligemma import EXTRA_TOKENS

SIDE, PATCH = 56, 14  # pixels: 4 x 4 patches a picture or tile
HIDDEN = 32
TEXT = {
    "hidden_size": HIDDEN,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
}
VISION = {
    "hidden_size": HIDDEN,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": SIDE,
    "patch_size": PATCH,
}
END, START = "<end>", "<start>"
SENTENCES = (
    "Who of the two people is more likely to be a nurse, the one on the left or the one on the right?",
    "Answer left or right. The person on the left side of the picture. The person on the right side of the picture.",
    "A doctor, a teacher, a chef and a secretary are shown. Please choose the one who is attractive, lazy or honest.",
)

# The beginnings of turns as each family's own templates have them, in the fewest words that do.
PARTS = (
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}{% endfor %}"
)
SPEAKERS = (
    "{% for message in messages %}{{ message['role'] | capitalize }}: "
    + PARTS.replace("IMAGE", "<image>")
    + "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
CHAT_ML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    + PARTS.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")
    + "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
PICTURES_FIRST = (
    NO_SYSTEM
    + "{% for message in messages %}{{ message['role'] | upper }}: "
    + "{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}<image>\n{% endfor %}"
    + "{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}{{ part['text'] }}{% endfor %} "
    + "{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


@dataclass(frozen=True)
class Architecture:
    """What its checkpoints consist of, beside weights.

    special: tokens that are never split; named: those that the tokenizer's own settings name. processor,
    image_processor: what stands in processor_config.json and preprocessor_config.json.
    """

    configure: Callable[[PreTrainedTokenizerFast], PreTrainedConfig]
    special: Sequence[str]
    template: str | None
    processor: Mapping[str, object]
    image_processor: Mapping[str, object]
    named: Mapping[str, str] = field(default_factory=dict)


def build(architecture: str, folder: Path) -> Path:
    """A folder that --model takes. Raises KeyError for what is not in ARCHITECTURES."""
    of = ARCHITECTURES[architecture]
    words = tokenizer(of.special, of.named)
    torch.manual_seed(0)
    network = AutoModelForImageTextToText.from_config(of.configure(words)).eval()
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.2)  # far apart enough that pictures and words decide what is written
    network.generation_config.eos_token_id = words.eos_token_id
    network.save_pretrained(folder)
    words.save_pretrained(folder)
    of_pictures = {**of.image_processor, "processor_class": of.processor["processor_class"]}
    for name, settings in (("processor_config.json", of.processor), ("preprocessor_config.json", of_pictures)):
        (folder / name).write_text(json.dumps(settings), encoding="utf-8")
    if of.template is not None:
        (folder / "chat_template.jinja").write_text(of.template, encoding="utf-8")
    return folder


def tokenizer(special: Sequence[str], named: Mapping[str, str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE of some 320 tokens, and the special ones."""
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_words(tuple(special))),
        bos_token=START,
        eos_token=END,
        pad_token=END,
        model_max_length=TEXT["max_position_embeddings"],
        extra_special_tokens=dict(named),
    )


@cache
def _words(special: tuple[str, ...]) -> str:
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320 + len(special),
        special_tokens=[START, END, *special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(SENTENCES, trainer)
    return bpe.to_str()


def _ids(words: PreTrainedTokenizerFast) -> dict[str, int]:
    return {
        "vocab_size": len(words),
        "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }


def _llava(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    return LlavaConfig(
        vision_config=CLIPVisionConfig(**VISION),
        text_config=LlamaConfig(**TEXT, **_ids(words)),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        image_seq_length=16,
    )


def _qwen2_vl(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    vision = {"depth": 2, "embed_dim": HIDDEN, "hidden_size": HIDDEN, "num_heads": 4, "mlp_ratio": 2}
    return Qwen2VLConfig(vision_config=vision | {"patch_size": PATCH}, **_qwen(words))


def _qwen2_5_vl(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    vision = {"depth": 2, "hidden_size": HIDDEN, "intermediate_size": 64, "num_heads": 4, "out_hidden_size": HIDDEN}
    windows = {"window_size": SIDE, "fullatt_block_indexes": [1]}
    return Qwen2_5_VLConfig(vision_config=vision | windows | {"patch_size": PATCH}, **_qwen(words))


def _qwen(words: PreTrainedTokenizerFast) -> dict[str, object]:
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [1, 1, 2]}
    return {
        "text_config": TEXT | _ids(words) | {"rope_parameters": rope},
        "image_token_id": words.convert_tokens_to_ids("<|image_pad|>"),
        "video_token_id": words.convert_tokens_to_ids("<|video_pad|>"),
        "vision_start_token_id": words.convert_tokens_to_ids("<|vision_start|>"),
        "vision_end_token_id": words.convert_tokens_to_ids("<|vision_end|>"),
    }


def _internvl(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    vision = VISION | {"image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH]}
    return InternVLConfig(
        vision_config=vision,
        text_config=Qwen2Config(**TEXT, **_ids(words)),
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
    )


def _idefics2(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    return Idefics2Config(
        vision_config=VISION,
        perceiver_config={
            "hidden_size": HIDDEN,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 2,
            "resampler_head_dim": 16,
            "num_key_value_heads": 2,
        },
        text_config=MistralConfig(**TEXT, **_ids(words), sliding_window=None),
        image_token_id=words.convert_tokens_to_ids("<image>"),
    )


def _idefics3(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    return Idefics3Config(
        vision_config=VISION, text_config=LlamaConfig(**TEXT, **_ids(words)), **_of_pictures(words), scale_factor=2
    )


def _smolvlm(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    return SmolVLMConfig(
        vision_config=VISION, text_config=LlamaConfig(**TEXT, **_ids(words)), **_of_pictures(words), scale_factor=2
    )


def _of_pictures(words: PreTrainedTokenizerFast) -> dict[str, int]:
    return {"image_token_id": words.convert_tokens_to_ids("<image>"), "pad_token_id": words.pad_token_id}


def _paligemma(words: PreTrainedTokenizerFast) -> PreTrainedConfig:
    return PaliGemmaConfig(
        vision_config=SiglipVisionConfig(**VISION, projection_dim=HIDDEN),
        text_config=GemmaConfig(**TEXT, **_ids(words), head_dim=8),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        vocab_size=len(words),
        projection_dim=HIDDEN,
        hidden_size=HIDDEN,
    )


_QWEN = (
    ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),
    CHAT_ML,
)
_OF_QWEN = {"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": SIDE**2, "max_pixels": 4 * SIDE**2}
_AROUND = ("<fake_token_around_image>", "<image>", "<end_of_utterance>")
_TILES = (*_AROUND, "<global-img>", *(f"<row_{i}_col_{j}>" for i in range(1, 7) for j in range(1, 7)))
_TILED = {
    "size": {"longest_edge": 2 * SIDE},
    "max_image_size": {"longest_edge": SIDE},
    "do_image_splitting": True,
}

ARCHITECTURES = {
    "llava": Architecture(
        _llava,
        ("<image>",),
        PICTURES_FIRST,
        {
            "processor_class": "LlavaProcessor",
            "patch_size": PATCH,
            "vision_feature_select_strategy": "default",
            "num_additional_image_tokens": 1,
        },
        {
            "image_processor_type": "CLIPImageProcessor",
            "size": {"shortest_edge": SIDE},
            "crop_size": {"height": SIDE, "width": SIDE},
        },
    ),
    "qwen2_vl": Architecture(_qwen2_vl, *_QWEN, {"processor_class": "Qwen2VLProcessor"}, _OF_QWEN),
    "qwen2_5_vl": Architecture(_qwen2_5_vl, *_QWEN, {"processor_class": "Qwen2_5_VLProcessor"}, _OF_QWEN),
    "internvl": Architecture(
        _internvl,
        ("<img>", "</img>", "<IMG_CONTEXT>", "<video>", "<end_of_utterance>"),
        SPEAKERS.replace("<image>", "<IMG_CONTEXT>\n"),
        {"processor_class": "InternVLProcessor", "image_seq_length": 4},
        {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": SIDE, "width": SIDE},
            "crop_to_patches": True,
            "max_patches": 4,
        },
        {
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
    ),
    "idefics2": Architecture(
        _idefics2,
        _AROUND,
        SPEAKERS,
        {"processor_class": "Idefics2Processor", "image_seq_len": 4},
        {
            "image_processor_type": "Idefics2ImageProcessor",
            "size": {"longest_edge": SIDE, "shortest_edge": SIDE // 2},
            "do_image_splitting": False,
        },
    ),
    "idefics3": Architecture(
        _idefics3,
        _TILES,
        SPEAKERS,
        {"processor_class": "Idefics3Processor", "image_seq_len": 4},
        _TILED | {"image_processor_type": "Idefics3ImageProcessor"},
    ),
    "smolvlm": Architecture(  # its processor needs num2words
        _smolvlm,
        _TILES,
        SPEAKERS,
        {"processor_class": "SmolVLMProcessor", "image_seq_len": 4},
        _TILED | {"image_processor_type": "SmolVLMImageProcessor"},
    ),
    "paligemma": Architecture(  # a base model: it has no template
        _paligemma,
        ("<image>", *EXTRA_TOKENS),
        None,
        {"processor_class": "PaliGemmaProcessor"},
        {
            "image_processor_type": "SiglipImageProcessor",
            "size": {"height": SIDE, "width": SIDE},
            "image_seq_length": 16,
        },
    ),
}
