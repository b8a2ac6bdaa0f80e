"""Arguments about files."""

import pyarrow as pa
import pytest
from lanceref.blobs.blob_writer import IN_PLACE
from pylanceref import write_dataset
from pylanceref.write_rows import file_limits, open_target, plan_write, write_rows

TABLE = pa.table({"a": [1, 2, 3], "b": [1, 2, 3]})


def test_limits_have_defaults(tmp_path) -> None:
    """Those of pylance; the cache is divided among the columns."""
    plan = plan_write(open_target(tmp_path), TABLE.schema, "create", None)
    limits = file_limits(plan, ())
    assert (limits.max_rows, limits.max_bytes, limits.group_rows) == (1 << 20, 90 << 30, 1024)
    assert limits.blobs == IN_PLACE
    assert file_limits(plan, (), max_rows_per_group=None).group_rows == 1024
    assert file_limits(plan, (), data_cache_bytes=100).policy.cache_bytes == 50


WRONG = {
    "unknown": ({"rows": 1}, TypeError),
    "no rows": ({"max_rows_per_file": -1}, OverflowError),
    "rows": ({"max_rows_per_file": 2**70}, OverflowError),
    "page": ({"max_page_bytes": 0}, OSError),
    "cache": ({"data_cache_bytes": -1}, OverflowError),
    "shared": ({"blob_pack_file_size_threshold": -1}, OverflowError),
    "options": ({"storage_options": 5}, TypeError),
    "option": ({"storage_options": {"a": 1}}, TypeError),
    "version": ({"data_storage_version": 2.1}, TypeError),
    "name": ({"data_storage_version": "2"}, ValueError),
    "mode": ({"external_blob_mode": "x"}, ValueError),
    "progress": ({"progress": 5}, OSError),
    "lock": ({"commit_lock": 5}, TypeError),
    "bases": ({"initial_bases": ["x"]}, ValueError),
    "schema": ({"schema": 5}, TypeError),
    "destination": ({"uri": None}, ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(tmp_path, name: str) -> None:
    """Nothing is written."""
    arguments, error = WRONG[name]
    data = iter(TABLE.to_batches()) if name == "schema" else TABLE
    with pytest.raises(error):
        write_dataset(data, **{"uri": tmp_path / "t", **arguments})
    assert not (tmp_path / "t").exists()


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG)
def test_the_oracle_refuses_them_too(tmp_path, name: str) -> None:
    """With the same class."""
    import lance

    arguments, error = WRONG[name]
    data = iter(TABLE.to_batches()) if name == "schema" else TABLE
    with pytest.raises(error):
        lance.write_dataset(data, **{"uri": str(tmp_path / "t"), **arguments})


@pytest.mark.parametrize(("legacy", "version"), [(True, "0.1"), (False, "2.2")])
def test_versions_are_named_the_old_way_too(tmp_path, legacy: bool, version: str) -> None:
    """With a warning."""
    with pytest.warns(DeprecationWarning, match="data_storage_version"):
        ds = write_dataset(TABLE, tmp_path, use_legacy_format=legacy, storage_options={"a": "b"})
    assert ds.data_storage_version == version


def test_files_wait_for_a_commit(tmp_path) -> None:
    """There is no table yet."""
    written = write_rows(TABLE, open_target(tmp_path), None, "append", max_rows_per_file=2)
    assert [one.physical_rows for one in written.files.fragments] == [2, 1]
    assert not (tmp_path / "_versions").exists()
