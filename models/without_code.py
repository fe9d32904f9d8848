"""What a checkpoint brings is read, never run: no code of its own, and no pickles, which can hold code.

Libraries are told so by `trust_remote_code=False`. Some parts of a checkpoint are loaded without that word reaching
them (a processor's tokenizer, a part of a pipeline), and then ask on standard input, where a pipe may say yes. So while
something is loaded, the one function through which transformers runs a checkpoint's code refuses to.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import transformers.dynamic_module_utils
import transformers.generation.utils
from transformers import PreTrainedConfig

CODE = (
    "it needs code of its own, which is never run here: it could do anything on this machine. Choose a model whose "
    "code is part of transformers"
)
PICKLED = (
    "its weights are pickled ({files}), which can hold code and are never loaded here. Convert them to safetensors: "
    "save_pretrained of current libraries writes them, on a machine on which you trust them"
)
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_INDEX = "*.safetensors.index.json"
_PLACES = (transformers.dynamic_module_utils, transformers.generation.utils)
_ASKING, _RUNNING = "TIME_OUT_REMOTE_CODE", "get_class_in_module"
_one_at_a_time = threading.RLock()


class CodeRefused(ValueError):
    """A checkpoint wanted its code to be run, or its pickles to be read."""


@contextmanager
def without_code() -> Iterator[None]:
    """As long as it is open, transformers runs no checkpoint's code and asks nobody. Raises CodeRefused instead."""
    with _one_at_a_time:
        before = [(place, name, getattr(place, name)) for place in _PLACES for name in vars(place) if name == _RUNNING]
        before.append((_PLACES[0], _ASKING, getattr(_PLACES[0], _ASKING)))
        try:
            for place, name, _ in before:
                setattr(place, name, 0 if name == _ASKING else _refuse)  # 0 seconds: nobody is asked
            yield
        except Exception as error:
            if "trust_remote_code" in str(error) or "execute custom code" in str(error):
                raise CodeRefused(CODE) from error
            raise
        finally:
            for place, name, value in before:
                setattr(place, name, value)


def _refuse(*args: object, **kwargs: object) -> NoReturn:
    raise CodeRefused(CODE)


def check_weights(folder: Path) -> None:
    """Raises CodeRefused for a folder whose weights are pickled, or named so in an index, its parts' too.

    Pickles beside other weights are left alone: nothing reads them. But an adapter beside them would be read.
    """
    indices = [*folder.glob(_INDEX), *folder.glob(f"*/{_INDEX}")]
    indexed = sorted({name for index in indices for name in _weights_of(index)})
    unsafe = [name for name in indexed if not name.endswith(".safetensors")]
    if not unsafe and not any(folder.glob("*.safetensors")):
        unsafe = sorted(path.name for path in folder.glob("*") if path.suffix in _PICKLES)
    if (folder / "adapter_config.json").is_file():
        raise CodeRefused("it has an adapter beside its weights; merge it into them (peft's merge_and_unload)")
    if unsafe:
        raise CodeRefused(PICKLED.format(files=", ".join(unsafe[:3]) + (" …" if len(unsafe) > 3 else "")))


def check_attention(config: PreTrainedConfig) -> None:
    """Raises CodeRefused where a configuration, or a part of it, names attention that is somebody's compiled code."""
    parts = (getattr(config, name, None) for name in (*config.sub_configs, "text_config"))
    named = [getattr(each, "_attn_implementation", None) for each in (config, *parts)]
    if fetched := [name for name in named if isinstance(name, str) and "/" in name]:
        raise CodeRefused(
            f"its configuration would fetch {fetched[0]} and run it; --model-option attn_implementation=sdpa takes the "
            "library's own attention"
        )


def _weights_of(index: Path) -> Iterator[str]:
    """The files that an index of weights names; none where it can't be read, which whoever loads it will say."""
    try:
        names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    yield from map(str, names)
