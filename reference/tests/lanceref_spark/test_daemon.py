"""Daemon: workers begin with the imports of the data source."""

import pytest

pytestmark = pytest.mark.spark


def test_workers_are_copies_of_a_process_with_the_imports(spark):
    """A task runs in a process that began as the daemon, which has imported the data source."""
    from tests.lanceref_spark.sample_jobs import ancestor

    (found,) = spark.sparkContext.parallelize([0], 1).map(ancestor).collect()
    assert found == ("lanceref_spark.daemon", True)
