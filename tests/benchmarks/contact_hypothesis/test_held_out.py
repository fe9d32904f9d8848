"""--held-out asks what a training in the same setting left for the test, and nothing else."""

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_hypothesis.cuts import cut
from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.trainers.benchmark_rows import contact_rows


def asked(setting, **others):
    benchmark = get_benchmark("contact_hypothesis")
    config = run_config("contact_hypothesis", "stub:first", held_out=setting, **others)
    return benchmark.load(benchmark.configuring.filled(config)).rows


def test_it_is_the_test_part_of_the_training():
    setting = "disjoint"  # what each setting holds out is the cuts' own test
    rows = asked(setting)
    expected = cut(setting, contact_rows("evenhand"), 42)
    assert set(rows["id"]) == {row["id"] for row in expected.test}
    assert not {*rows["id"]} & {row["id"] for row in [*expected.train, *expected.validation]}
    assert rows.num_columns == len(rows.column_names) > 10


def test_scales_that_were_trained_on_alone_leave_nothing():
    with pytest.raises(UsageError, match="leaves no rows of certainty for the test, only rows of frequency, lik"):
        asked("3a", configs=("certainty",))


def test_setting_2_is_tested_on_the_new_half():
    benchmark = get_benchmark("contact_hypothesis")
    config = run_config("contact_hypothesis", "stub:first", held_out="2")
    assert benchmark.configuring.filled(config).configs == ("new_certainty", "new_likelihood", "new_frequency")
