"""Work for Spark: the part of one task can be done without a session."""

import pytest

pytestmark = pytest.mark.spark

ROWS = 50


@pytest.mark.parametrize(
    ("name", "done"),
    [("read", ROWS), ("write", 10 * ROWS), ("validate", 5), ("index", ROWS), ("corpus", 20)],
)
def test_the_share_of_a_task_runs_by_itself_and_again(tmp_path, name, done):
    """Rows, units of validation or cases that were done."""
    pytest.importorskip("pyspark")
    from lance_conformance.bench.spark_work import PIPELINES

    pipeline = PIPELINES[name]
    pipeline.prepare(tmp_path, 1, ROWS)
    assert pipeline.share(tmp_path, ROWS) == done
    assert pipeline.share(tmp_path, ROWS) == done
