"""Validation on Spark: what a loop finds, one task for each unit, in workers."""

import os

import pyarrow as pa
import pylanceref
import pytest
from lanceref_spark import validation
from lanceref_spark.executor import Tasks
from lanceref_spark.jobs import Loop
from lanceref_spark.validation import validate_with

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of eight fragments, of which one is damaged and one has lost its file."""
    monkeypatch.setattr(validation, "GROUP_FRAGMENTS", 1)
    rows = pa.table({"a": range(80)})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10)
    made.create_scalar_index("a", "BTREE")
    files = [tmp_path / "t" / "data" / one.data_files()[0].path for one in made.get_fragments()]
    files[2].unlink()
    files[5].write_bytes(files[5].read_bytes()[:-1] + b"X")
    return made


def test_tasks_find_what_the_loop_finds(spark, table):
    """The reports are equal, findings and units in their order."""
    ours = validate_with(Loop(), table.uri, deep=True)
    assert {one.clause for one in ours.findings} >= {
        "L.table.files.exist",
        "L.file.footer.magic",
    }
    assert validate_with(Tasks(spark), table.uri, deep=True) == ours


def test_each_unit_is_a_task_in_a_worker(spark, table):
    """As many tasks as units, none in this process, which reads no data file."""
    from lanceref.core.limits import DEFAULT_LIMITS
    from lanceref.storage import store_options

    from tests.lanceref_spark.sample_jobs import checked_where

    subject, units = validation.plan(table.uri, True, None, DEFAULT_LIMITS, store_options(None))
    done = list(Tasks(spark).map(checked_where, units, subject))
    assert [checked.unit for checked, _, _ in done] == units
    assert [partition for _, partition, _ in done] == list(range(len(units)))
    assert os.getpid() not in {pid for _, _, pid in done}
