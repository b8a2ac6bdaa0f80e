"""Versions, tags, branches, clones and settings."""

from datetime import datetime, timedelta

import pyarrow as pa
import pylanceref
import pylanceref.history
import pytest
from lanceref.core.errors import AlreadyExists, NotFound, OperationRefused
from pylanceref.operation import LanceOperation


@pytest.fixture
def table(tmp_path):
    """Two versions: rows 0 and 1, then 2 and 3 too."""
    pylanceref.write_dataset(pa.table({"a": [0, 1]}), tmp_path / "t")
    return pylanceref.write_dataset(pa.table({"a": [2, 3]}), tmp_path / "t", mode="append")


def _rows(table):
    return table.to_table()["a"].to_pylist()


def test_a_tag_names_a_version(table):
    """By default the open one; it can be moved and deleted. The newest is listed first."""
    table.tags.create("first", 1)
    table.tags.create("now")

    assert [0, 1] == _rows(table.checkout_version("first"))
    assert 2 == table.tags.get_version("now")
    table.tags.update("first", 2)
    assert 2 == table.checkout_version("first").version
    table.tags.delete("first")
    assert ["now"] == list(table.tags.list())
    for name, version in (("x", 1), ("b", 2), ("a", 2)):
        table.tags.create(name, version)
    assert ["a", "b", "now", "x"] == [name for name, _ in table.tags.list_ordered()]
    assert ["x", "a", "b", "now"] == [name for name, _ in table.tags.list_ordered("asc")]
    with pytest.raises(ValueError, match="Invalid sort order"):
        table.tags.list_ordered("up")


def test_a_branch_goes_its_own_way(table):
    """It begins at a version, its appends are not seen on the main branch, and tags name both."""
    branch = table.create_branch("dev/x", 1)
    grown = pylanceref.write_dataset(pa.table({"a": [9]}), branch, mode="append")
    table.tags.create("there", ("dev/x", 2))

    assert (1, [0, 1]) == (branch.version, _rows(branch))
    assert ([0, 1, 9], [0, 1, 2, 3]) == (_rows(grown), _rows(table))
    assert [0, 1, 9] == _rows(table.checkout_version("there"))
    assert [0, 1, 9] == _rows(table.checkout_version(("dev/x", None)))
    assert [0, 1, 2, 3] == _rows(grown.checkout_version(("main", None)))


def test_a_branch_is_deleted_with_its_table(table, tmp_path):
    """Not before those that began in it; files stay until no other branch lies below."""
    table.create_branch("dev", 1)
    table.create_branch("dev/x", 2)
    table.create_branch("child", ("dev", None))
    table.create_branch("None")  # a name like any other
    with pytest.raises(OperationRefused, match="referenced by"):
        table.branches.delete("dev")
    table.branches.delete("child")
    table.branches.delete("dev")

    assert ["None", "dev/x"] == sorted(table.branches.list())
    assert [0, 1, 2, 3] == _rows(table.checkout_version(("None", None)))
    assert [0, 1, 2, 3] == _rows(table.checkout_version(("dev/x", None)))
    with pytest.raises(NotFound):
        table.branches.delete("dev")
    folder = tmp_path / "t" / "tree"
    assert (folder / "dev" / "_versions").exists()
    assert not (folder / "child").exists()
    table.branches.delete("dev/x")
    assert ["None"] == [path.name for path in folder.iterdir()]


def test_clones_have_the_rows(table, tmp_path):
    """A shallow one reads them where they are, a deep one has its own."""
    shallow = table.shallow_clone(tmp_path / "s", 1)
    deep = table.deep_clone(tmp_path / "d", ("main", 2))

    assert (1, [0, 1]) == (shallow.version, _rows(shallow))
    assert [] == list((tmp_path / "s").glob("data/*"))
    assert (2, [0, 1, 2, 3]) == (deep.version, _rows(deep))
    assert 2 == len(list((tmp_path / "d").glob("data/*")))
    pylanceref.write_dataset(pa.table({"a": [7]}), shallow, mode="append")
    assert [0, 1, 7] == _rows(pylanceref.dataset(tmp_path / "s"))
    with pytest.raises(AlreadyExists):
        table.shallow_clone(tmp_path / "d", 1)


def test_a_restore_is_a_new_version(table):
    """The rows of version 1 as version 3; the one that was restored from says so."""
    old = table.checkout_version(1)
    old.restore()

    assert (3, [0, 1]) == (old.version, _rows(old))
    assert LanceOperation.Restore(1) == old.read_transaction(3).operation
    table.checkout_latest()
    assert 3 == table.version


def test_a_moment_names_the_version_before_it(table):
    """The latest one made earlier; none is a ValueError."""
    first, second = (one["timestamp"] for one in table.versions())
    later = datetime.now() + timedelta(days=1)

    assert 1 == pylanceref.dataset(table.uri, asof=second).version
    assert 2 == pylanceref.dataset(table.uri, asof=later).version
    assert 2 == pylanceref.dataset(table.uri, asof=later.isoformat()).version
    with pytest.raises(ValueError, match="earlier than the first"):
        pylanceref.dataset(table.uri, asof=first)
    with pytest.raises(TypeError):
        pylanceref.dataset(table.uri, asof=7)


@pytest.fixture
def nested(tmp_path):
    """One row with a nested field."""
    return pylanceref.write_dataset(pa.table({"a": [1], "s": [{"x": 1}]}), tmp_path)


def test_each_map_is_edited_alone(nested):
    """Values are set, None takes out, `replace` begins anew; each edit is a version."""
    assert {"k": "1", "l": "2"} == nested.update_config({"k": "1", "l": "2"})
    assert {"l": "2"} == nested.update_config({"k": None})
    assert {"z": "1"} == nested.update_config({"z": "1"}, replace=True)
    assert {"m": "1"} == nested.update_metadata({"m": "1"})
    assert {"s": "1"} == nested.update_schema_metadata({"s": "1"})
    assert ({"z": "1"}, {"m": "1"}, {"s": "1"}) == (
        nested.config(),
        nested.metadata,
        nested.schema_metadata,
    )
    nested.delete_config_keys(["z", "none"])
    assert ({}, 7) == (nested.config(), nested.version)


def test_fields_have_metadata_by_path(nested):
    """A nested one too; one that is not there is refused as an OSError."""
    nested.update_field_metadata({"s.x": {"u": "m"}, "a": {"k": "1"}})
    nested.update_field_metadata({"a": {"l": "2"}})

    assert {b"k": b"1", b"l": b"2"} == nested.schema.field("a").metadata
    assert {b"u": b"m"} == nested.schema.field("s").type.field("x").metadata
    with pytest.raises(OSError, match="not found"):
        nested.update_field_metadata({"s.y": {"u": "m"}})
    with pytest.raises(OperationRefused):
        nested.update_field_metadata({"": {"u": "m"}})


def test_a_ref_that_cannot_be_is_refused(table):
    """A name that is taken, a version or tag that is not there."""
    table.tags.create("x", 1)
    table.create_branch("x")
    for again in (table.tags.create, table.create_branch):
        with pytest.raises(OperationRefused, match="already exists"):
            again("x", 2)
    for call in (
        lambda: table.tags.create("y", 9),
        lambda: table.tags.update("x", 9),
        lambda: table.tags.update("y", 1),
        lambda: table.tags.delete("y"),
        lambda: table.tags.get_version("y"),
        lambda: table.checkout_version("y"),
    ):
        with pytest.raises(NotFound):
            call()
    assert 1 == table.tags.get_version("x")
