"""Plain processes: their work is that of a task."""

import pytest

pytestmark = pytest.mark.spark


def test_two_processes_do_more_than_one():
    """More than none, and not much more than twice as much."""
    pytest.importorskip("pyspark")
    from lance_conformance.bench.spark_plain import scaling

    assert 0.5 < scaling("corpus", 0.2, 1) < 4
