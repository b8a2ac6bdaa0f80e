"""Work for Spark: the part of one task can be done without a session."""

import pytest

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("name", ["read", "write", "validate", "index", "corpus"])
def test_the_share_of_a_task_runs_by_itself(tmp_path, name):
    """Twice, over what was prepared for one task."""
    pytest.importorskip("pyspark")
    from lance_conformance.bench.spark_work import PIPELINES

    pipeline = PIPELINES[name]
    pipeline.prepare(tmp_path, 1, 50)
    pipeline.share(tmp_path, 50)
    pipeline.share(tmp_path, 50)
