"""Trainings on few of the prompt sets of contact_hypothesis, so that none takes long."""

import pytest

from evenhand.trainers import benchmark_rows
from tests.trainers.few_rows import FEW


@pytest.fixture(scope="module", autouse=True)
def few_rows():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(benchmark_rows, "contact_rows", FEW)
        yield
