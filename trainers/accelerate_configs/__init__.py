"""Configurations for `accelerate launch --config_file`: copies of the model, or its weights in parts."""

from pathlib import Path

CONFIGS = Path(__file__).parent
