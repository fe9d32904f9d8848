"""What this metric's Space runs; `evenhand app bbq_bias` shows the same page on your machine."""

from pathlib import Path

import evaluate

from evenhand.hub.apps.page import launch

HERE = Path(__file__).parent

launch(evaluate.load(str(HERE / "bbq_bias.py"), keep_in_memory=True), HERE)
