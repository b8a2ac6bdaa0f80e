"""Executors by their words."""

import pytest
from lance_conformance import executors
from lance_conformance.executors import Choice, executor_of
from lanceref.core.errors import ExtraMissing
from lanceref_spark.jobs import Loop, Processes


def double(job: int, shared: int) -> int:
    """Do a job."""
    return job * shared


def test_the_loop_is_the_default():
    """No word is a loop, `process` are processes; both give the results in order."""
    assert isinstance(executor_of(None, None, "").inner, Loop)
    assert isinstance(executor_of(Choice.PROCESS, None, "").inner, Processes)
    assert [2, 4] == list(executor_of(Choice.LOOP, None, "done").map(double, [1, 2], 2))


@pytest.mark.parametrize(
    ("missing", "told"), [("pyspark", r"lance-conformance\[spark\]"), ("java", "openjdk-17")]
)
def test_what_spark_misses_is_named(monkeypatch, missing, told):
    """A master means Spark; without PySpark or Java the error says how to get it."""
    present = {"pyspark": None if missing == "pyspark" else object()}
    monkeypatch.setattr(executors, "find_spec", present.get)
    monkeypatch.setattr(executors.shutil, "which", lambda name: None)
    with pytest.raises(ExtraMissing, match=told):
        executor_of(None, "local[2]", "")
