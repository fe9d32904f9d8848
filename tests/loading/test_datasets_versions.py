"""One folder serves every version of `datasets`: the loading script below 4, the parquet for all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLD_PYTHON = ROOT / ".venv-datasets3" / "bin" / "python"

# Runs in either environment, so it imports nothing of this repository.
DIGEST = """
import hashlib, json, sys
import datasets

path, config, *script = sys.argv[1:]
options = {"trust_remote_code": True} if script else {}
digest = hashlib.sha256()
for split, rows in sorted(datasets.load_dataset(path, config, **options).items()):
    for column in [column for column, feature in rows.features.items() if isinstance(feature, datasets.Image)]:
        pictures = [each["bytes"].hex() for each in rows.cast_column(column, datasets.Image(decode=False))[column]]
        rows = rows.remove_columns(column).add_column(column, pictures)
    classes = {column: getattr(feature, "names", None) for column, feature in rows.features.items()}
    for record in (split, classes, *rows):
        digest.update(json.dumps(record, sort_keys=True).encode())
print(datasets.__version__, digest.hexdigest())
"""

pytestmark = pytest.mark.slow


def version_and_digest(python, home, *arguments, cwd):
    """What DIGEST prints in a process of its own, offline, with `home` as its only cache."""
    offline = {"HF_HOME": str(home), "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PYTHON"))}
    command = [str(python), "-c", DIGEST, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=inherited | offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("contact_hypothesis", "certainty"),
        ("contact_hypothesis", "new_frequency"),
        ("labe", "biography"),
        ("labe", "professor_review"),
        ("language_agency", "evenhand"),
        ("implicit_bias", "scenarios"),
        ("implicit_bias", "finetune_full"),
        ("implicit_bias", "case_study"),
        ("mllm_stereotypes", "persona"),
        ("mllm_stereotypes", "persona_images"),
    ],
)
def test_versions_load_the_same_rows(name, config, tmp_path):
    """datasets 3.6 from the script, 3.6 from the parquet and the present version from the parquet: equal splits, rows.

    Names of classes, which the parquet has from the card, are equal too.
    """
    if not OLD_PYTHON.exists():
        pytest.skip("make .venv-datasets3/.installed makes it")
    folder = ROOT / "datasets" / name
    script = folder / "loading_script.py"
    version, expected = version_and_digest(sys.executable, tmp_path / "new", folder, config, cwd=tmp_path)
    parquet = version_and_digest(OLD_PYTHON, tmp_path / "parquet", folder, config, cwd=tmp_path)
    generated = version_and_digest(OLD_PYTHON, tmp_path / "script", script, config, "script", cwd=tmp_path)
    assert int(version.split(".")[0]) >= 4
    assert parquet == generated == ["3.6.0", expected]


def test_folder_named_datasets_shadows_nothing(tmp_path):
    """From the repository's root the relative path loads, and `import datasets` there is still the library."""
    folder = "datasets/contact_hypothesis"
    relative = version_and_digest(sys.executable, tmp_path / "relative", folder, "certainty", cwd=ROOT)
    absolute = version_and_digest(sys.executable, tmp_path / "absolute", ROOT / folder, "certainty", cwd=tmp_path)
    assert relative == absolute
