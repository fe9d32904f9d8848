"""What to type instead of a name that stands for no model: other tools' names, servers without http://, folders."""

from __future__ import annotations

import re
from pathlib import Path

SERVERS = {
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "lm_studio": "http://localhost:1234/v1",
    "lmstudio": "http://localhost:1234/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434/v1",
    "ollama_chat": "http://localhost:11434/v1",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together_ai": "https://api.together.xyz/v1",
}
"""URLs that speak OpenAI's protocol, by the prefix that LiteLLM and others give their models."""
_OF_OPENAI = ("gpt-3", "gpt-4", "gpt-5", "chatgpt-", "o1", "o3", "o4")
_HUB = re.compile(r"(?:https?://)?(?:huggingface\.co|hf\.co)/(?:models/)?([\w.-]+/[\w.-]+).*")
_HOST = re.compile(r"((?:\[[0-9a-f:]+\]|[\w.-]+):\d+)(/[^#]*)?(#.*)?", re.IGNORECASE)
_PREFIXED = re.compile(r"(\w+)(?:://|:|/)(.+)")
_REVISED = re.compile(r"([\w.-]+/[\w.-]+)[:@]([\w./-]+)")


def suggest_name(name: str) -> str | None:
    """Return the name that was probably meant, with the options that it needs: "http://localhost:8000/v1"."""
    if found := _HUB.fullmatch(name):
        return found[1]
    if found := _HOST.fullmatch(name):
        path = found[2] if found[2] and found[2] != "/" else "/v1"
        return f"http://{found[1]}{path}{found[3] or ''}"
    if name.startswith(_OF_OPENAI):
        name = f"openai/{name}"
    if found := _PREFIXED.fullmatch(name):
        kind, rest = found[1].lower(), found[2]
        if kind in ("hf", "huggingface"):
            return rest
        if kind == "vllm":
            return f"vllm:{rest}"
        if kind in SERVERS:
            needs_key = kind != "openai" and SERVERS[kind].startswith("https")
            return f"{SERVERS[kind]}#{rest}" + (" --api-key-env NAME" if needs_key else "")
    if found := _REVISED.fullmatch(name):
        return f"{found[1]} --revision {found[2]}"
    return None


def find_model_folders(folder: Path) -> list[Path]:
    """Find the folders with a model below one without: a trainer's checkpoints, or those of the Hub's cache."""
    files = [path for pattern in ("", "snapshots/") for name in ("config.json", "adapter_config.json")
             for path in folder.glob(f"{pattern}*/{name}")]  # fmt: skip
    return sorted({path.parent for path in files}, key=lambda path: path.stat().st_mtime, reverse=True)
