"""Spark benchmark: how much work is done, and what is printed about it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def spark_bench():
    """The module, which needs PySpark."""
    pytest.importorskip("pyspark")
    from lance_conformance.bench import spark

    return spark


def test_tasks_keep_a_slot_busy(spark_bench):
    """An even number, two at least, of tasks that take so long together."""
    assert spark_bench.tasks_for(20, 2.0) == 10
    assert spark_bench.tasks_for(20, 1.9) == 10
    assert spark_bench.tasks_for(1, 30.0) == 2


def test_the_table_judges_what_the_goal_is_for(spark_bench):
    """A ratio of 1.7 is enough, less is not; a pipeline without goal has no verdict."""

    def costs(slots, *seconds):
        names = ("write", "index", "corpus")
        return [
            spark_bench.Cost(name, slots, 0.5, 0.02, 8, took, 0.9 * slots)
            for name, took in zip(names, seconds, strict=True)
        ]

    ones, twos = costs(1, 20, 20, 20), costs(2, 10, 15, 15)
    _, write, index, corpus = spark_bench.table(ones, twos, [1.9, 1.5, 1.2])
    assert write.split() == [
        "write", "0.50", "20.0", "8", "20.0", "0.90", "10.0", "1.80", "1.90", "1.90", "2.00", "ok",
    ]  # fmt: skip
    assert index.split()[-4:] == ["1.50", "1.50", "1.33", "below"]
    assert corpus.endswith("1.33")


def test_one_slot_that_takes_of_the_second_processor_lowers_the_bound(spark_bench):
    """Two processes do 1.8 of the work of one; a slot that keeps 1.2 busy leaves 1.5."""
    one, two = (spark_bench.Cost("write", n, 0.5, 0.02, 8, 20 / n, 1.2 * n) for n in (1, 2))
    _, line = spark_bench.table([one], [two], [1.8])
    assert line.split()[-4:] == ["1.80", "1.50", "2.00", "ok"]


def test_processors_of_all_processes_count(spark_bench):
    """A child that computes is seen while it lives and when it has been waited for."""
    code = "sum(i * i for i in range(4_000_000))"
    before = spark_bench.processor_seconds()
    _, cores = spark_bench.timed(lambda: subprocess.run([sys.executable, "-c", code], check=True))
    assert spark_bench.processor_seconds() - before >= 0.05
    assert cores > 0
