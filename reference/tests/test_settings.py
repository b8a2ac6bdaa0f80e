"""Config and metadata."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import OperationRefused
from pylanceref.operation import DatasetBasePath


@pytest.fixture
def table(tmp_path):
    """One row with a nested field."""
    return pylanceref.write_dataset(pa.table({"a": [1], "s": [{"x": 1}]}), tmp_path)


def test_each_map_is_edited_alone(table):
    """Values are set, None takes out, `replace` begins anew; each edit is a version."""
    assert {"k": "1", "l": "2"} == table.update_config({"k": "1", "l": "2"})
    assert {"l": "2"} == table.update_config({"k": None})
    assert {"z": "1"} == table.update_config({"z": "1"}, replace=True)
    assert {"m": "1"} == table.update_metadata({"m": "1"})
    assert {"s": "1"} == table.update_schema_metadata({"s": "1"})
    assert ({"z": "1"}, {"m": "1"}, {"s": "1"}) == (
        table.config(),
        table.metadata,
        table.schema_metadata,
    )
    table.delete_config_keys(["z", "none"])
    assert ({}, 7) == (table.config(), table.version)


def test_fields_have_metadata_by_path(table):
    """A nested one too; one that is not there is refused as an OSError."""
    table.update_field_metadata({"s.x": {"u": "m"}, "a": {"k": "1"}})
    table.update_field_metadata({"a": {"l": "2"}})

    assert {b"k": b"1", b"l": b"2"} == table.schema.field("a").metadata
    assert {b"u": b"m"} == table.schema.field("s").type.field("x").metadata
    with pytest.raises(OSError, match="not found"):
        table.update_field_metadata({"s.y": {"u": "m"}})
    with pytest.raises(OperationRefused):
        table.update_field_metadata({"": {"u": "m"}})


def test_old_names_warn(table):
    """They replace."""
    table.update_schema_metadata({"a": "1"})
    with pytest.warns(DeprecationWarning):
        table.replace_schema_metadata({"b": "2"})
    with pytest.warns(DeprecationWarning):
        table.replace_field_metadata("a", {"n": "m"})

    assert {"b": "2"} == table.schema_metadata
    assert {b"n": b"m"} == table.schema.field("a").metadata


def test_bases_are_added(table):
    """Ids from 1 on; a name that is taken is refused."""
    table.add_bases([DatasetBasePath("/x", "x"), DatasetBasePath("/y", is_dataset_root=True)])

    assert [1, 2] == list(table.base_paths())
    assert DatasetBasePath("/x", "x", False, 1) == table.base_paths()[1]
    with pytest.raises(OperationRefused):
        table.add_bases([DatasetBasePath("/z", "x")])


@pytest.mark.oracle
def test_the_oracle_sees_the_same_settings(table, tmp_path):
    """All four maps and the bases."""
    import lance

    table.update_config({"k": "1"})
    table.update_metadata({"m": "1"})
    table.update_schema_metadata({"s": "1"})
    table.update_field_metadata({"s.x": {"u": "m"}})
    table.add_bases([DatasetBasePath(str(tmp_path / "b"), "b")])
    theirs = lance.dataset(tmp_path)

    assert ({"k": "1"}, {"m": "1"}, {"s": "1"}) == (
        theirs.config(),
        theirs.metadata,
        theirs.schema_metadata,
    )
    assert table.schema.equals(theirs.schema, check_metadata=True)
    assert ["b"] == [one.name for one in theirs.base_paths().values()]
