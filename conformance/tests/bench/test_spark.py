"""Spark benchmark: how much work is done, and what is told of it."""

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
            spark_bench.Cost(name, slots, 0.5, 0.02, 8, took)
            for name, took in zip(names, seconds, strict=True)
        ]

    _, write, index, corpus = spark_bench.table(costs(1, 20, 20, 20), costs(2, 10, 15, 15))
    assert write.split() == ["write", "0.50", "20.0", "8", "20.0", "10.0", "2.00", "ok"]
    assert index.endswith("1.33  below")
    assert corpus.endswith("1.33")
