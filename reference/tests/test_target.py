"""What lies at a destination."""

import pyarrow as pa
import pytest
from lanceref.core.errors import AlreadyExists
from lanceref.core.file_versions import V0_1, V2_1, V2_2
from pylanceref import LanceDataset, write_dataset
from pylanceref.write_rows import committed, open_target, plan_write

SCHEMA = pa.schema({"a": pa.int32()})
TABLE = SCHEMA.empty_table()


def test_a_destination_may_be_empty(tmp_path) -> None:
    """Then every mode makes a table of the default version."""
    target = open_target(tmp_path / "t")
    assert target.base is None
    for mode in ("create", "append", "overwrite"):
        plan = plan_write(target, SCHEMA, mode, None)
        assert (plan.appends, plan.version) == (False, V2_2)


def test_a_table_decides_on_the_version_of_its_files(tmp_path) -> None:
    """Unless the caller does; only an append takes its schema over."""
    ds = write_dataset(TABLE, tmp_path, data_storage_version="2.1")
    for destination in (tmp_path, str(tmp_path), ds):
        target = open_target(destination)
        assert target.base is not None
        assert plan_write(target, SCHEMA, "append", None).version == V2_1
        assert plan_write(target, SCHEMA, "overwrite", "legacy").version == V0_1
        assert plan_write(target, SCHEMA, "append", None).appends
        assert not plan_write(target, SCHEMA, "overwrite", None).appends
        with pytest.raises(AlreadyExists):
            plan_write(target, SCHEMA, "create", None)
        with pytest.raises(ValueError, match="Invalid mode"):
            plan_write(target, SCHEMA, "x", None)
    assert committed(LanceDataset, target, 1).version == 1
