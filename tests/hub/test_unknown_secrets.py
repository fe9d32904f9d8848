"""Keys of services, and places, that the patterns know nothing of: found by how they look."""

import random
import string

import pytest

from evenhand.hub.refusals import reasons
from evenhand.hub.secret_patterns import HIDDEN, without_secrets

HEX, SMALL = string.hexdigits[:16], string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits
KEYS = {  # of a service: what it begins with, how many characters follow, and which
    "nvidia": ("nvapi-", 64, MIXED), "groq": ("gsk_", 52, MIXED), "replicate": ("r8_", 37, MIXED),
    "xai": ("xai-", 80, MIXED), "wandb": ("wandb_v1_", 70, MIXED), "sendgrid": ("SG.", 43, MIXED),
    "google": ("ya29.", 60, MIXED), "google client": ("GOCSPX-", 28, MIXED), "databricks": ("dapi", 32, HEX),
    "digitalocean": ("dop_v1_", 64, HEX), "telegram": ("123456789:AA", 33, MIXED), "shopify": ("shpat_", 32, HEX),
    "mailgun": ("key-", 32, HEX), "figma": ("figd_", 40, MIXED), "linear": ("lin_api_", 40, MIXED),
    "notion": ("ntn_", 46, MIXED), "pinecone": ("pcsk_", 63, MIXED), "perplexity": ("pplx-", 48, MIXED),
    "fireworks": ("fw_", 24, MIXED), "langsmith": ("lsv2_pt_", 32, HEX), "elevenlabs": ("sk_", 48, HEX),
    "grafana": ("glsa_", 32, MIXED), "vault": ("hvs.", 90, MIXED), "newrelic": ("NRAK-", 27, SMALL.upper()),
    "supabase": ("sbp_", 40, HEX), "no service": ("", 32, MIXED), "ethereum": ("0x", 64, HEX),
    "named": ('"x-api-key": "', 30, SMALL), "in a list": ('"api_keys": ["', 40, HEX),
    "yaml": ("api_keys:\n - ", 40, HEX),
    "kaggle": ('{"username":"ann","key":"', 32, HEX), "wandb login": ("wandb login ", 40, HEX),
    "environment": ("COMET_API_KEY=", 25, SMALL), "address": ("https://x.example/?sig=", 43, MIXED),
}  # fmt: skip


def drawn(service, seed):
    begins, length, letters = KEYS[service]
    return begins + "".join(random.Random(seed).choices(letters, k=length))


@pytest.mark.parametrize("service", KEYS)
def test_of_a_hundred_keys_ninety_five_are_found(service):
    found = [[*reasons("notes.md", f"with {drawn(service, seed)} it runs\n".encode())] for seed in range(100)]
    assert sum(map(bool, found)) >= 95


def test_they_are_not_said_either():
    key = drawn("nvidia", 0)
    assert without_secrets(f"no model {key} is there") == f"no model {HIDDEN} is there"


@pytest.mark.parametrize(
    "text",
    ["JWT_SECRET=my-very-long-signing-secret-for-prod", "Passwort: Geh3im99x", "contraseña: Geh3im99x",
     "password: correcthorsebatterystaple", 'password = "summer2024"', "smtp_pass: Geh3im99xyz",
     "SharedAccessKey=dGhpcyBpcyBub3QgYSBrZXkgYnV0MTIz", "redis://:geheimnis@cache:6379/0",
     "https://0123456789abcdef0123456789abcdef@o1.ingest.example/7"],
)  # fmt: skip
def test_passwords_are_found(text):
    assert [*reasons("notes.md", text.encode())]


@pytest.mark.parametrize(
    "text",
    ["gcc -I/home/ann/inc", "docker -v/home/ann/x:/y", "</scratch/ann/run>", "/1/ann/models", "/data/*/ann",
     r"D:\secret.txt", "/данные/анна/x", "?path=%2Fhome%2Fann", r'"\/home\/ann"', "—/srv/ann/x", "nfs://gpu7/data/x",
     "-L/opt/ann/lib", "/Volumes/Backup/models", "/lustre/project_4/ann", r"\\nas\c$\ann", "[x](/scratch/ann/run)"],
)  # fmt: skip
def test_places_are_found(text):
    [told] = reasons("notes.md", f"it lies in {text} here".encode())
    assert told.startswith("names a place of a machine")
