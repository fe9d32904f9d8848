"""No token stands in logs, however much is logged: people paste them into issues."""

import pytest

from tests.hub.conftest import TOKEN

LOGS = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from evenhand.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("changed", [{"HF_DEBUG": "1"}, {"HF_HUB_VERBOSITY": "debug", "HTTPX_LOG_LEVEL": "trace"}])
def test_all_that_is_logged_names_no_token(hub, python, checkpoint, changed):
    hub.fail("PUT", "/large/", 500, Retry_After="0")
    hub.fail("POST", "/commit/", "lost")
    done = python(LOGS, "publish", "model", checkpoint, "--namespace", "lab", **changed)
    assert done.code == 0, done.err
    assert "/api/models/lab/fair-model" in done.err  # requests are logged
    assert TOKEN not in done.out + done.err
    assert TOKEN[3:] not in done.out + done.err
