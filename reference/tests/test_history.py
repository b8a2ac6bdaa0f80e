"""Versions and what they did."""

import importlib
from datetime import datetime, timedelta

import pyarrow as pa
import pylanceref
import pylanceref.history
import pytest
from lanceref.core.errors import NotFound
from pylanceref.operation import LanceOperation


@pytest.fixture
def table(tmp_path):
    """Two versions: one row, then two."""
    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    return pylanceref.write_dataset(pa.table({"a": [2]}), tmp_path, mode="append")


def test_versions_are_listed_oldest_first(table):
    """With the rows they have; the one that is open alone."""
    assert [1, 2] == [one["version"] for one in table.versions()]
    assert ["1", "2"] == [one["metadata"]["total_rows"] for one in table.versions()]
    assert [{"version": 1}, {"version": 2}] == table.version_refs()
    assert table.versions()[1] == table.get_version()
    assert set(pylanceref.history.Version.__annotations__) == set(table.get_version())


def test_a_restore_is_a_new_version(table):
    """The rows of version 1 as version 3; the one that was restored from says so."""
    old = table.checkout_version(1)
    old.restore()

    assert (3, [1]) == (old.version, old.to_table()["a"].to_pylist())
    assert LanceOperation.Restore(1) == old.read_transaction(3).operation
    table.checkout_latest()
    assert 3 == table.version


def test_transactions_are_read_newest_first(table):
    """As many as there are; a version that is not there has none."""
    kinds = [type(one.operation) for one in table.get_transactions()]

    assert [LanceOperation.Append, LanceOperation.Overwrite] == kinds
    assert 1 == len(table.get_transactions(1))
    with pytest.raises(NotFound):
        table.read_transaction(9)


def test_a_moment_names_the_version_before_it(table, tmp_path):
    """The latest one made earlier; none is a ValueError."""
    first, second = (one["timestamp"] for one in table.versions())
    later = datetime.now() + timedelta(days=1)

    assert 1 == pylanceref.dataset(tmp_path, asof=second).version
    assert 2 == pylanceref.dataset(tmp_path, asof=later).version
    assert 2 == pylanceref.dataset(tmp_path, asof=later.isoformat()).version
    with pytest.raises(ValueError, match="earlier than the first"):
        pylanceref.dataset(tmp_path, asof=first)
    with pytest.raises(TypeError):
        pylanceref.dataset(tmp_path, asof=7)


def test_names_are_migrated(tmp_path):
    """V1 names become V2 names; all versions are there, and the next one follows."""
    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path, enable_v2_manifest_paths=False)
    made = pylanceref.write_dataset(pa.table({"a": [2]}), tmp_path, mode="append")
    made.migrate_manifest_paths_v2()
    names = sorted(one.name for one in (tmp_path / "_versions").glob("*.manifest"))

    assert ["18446744073709551613.manifest", "18446744073709551614.manifest"] == names
    made = pylanceref.write_dataset(pa.table({"a": [3]}), tmp_path, mode="append")
    assert [1, 2, 3] == [one["version"] for one in made.versions()]


@pytest.mark.oracle
def test_the_oracle_sees_the_same_history(tmp_path):
    """Versions, a restore and migrated names."""
    import lance

    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path, enable_v2_manifest_paths=False)
    pylanceref.write_dataset(pa.table({"a": [2]}), tmp_path, mode="append")
    made = pylanceref.dataset(tmp_path, 1)
    made.restore()
    made.migrate_manifest_paths_v2()
    theirs = lance.dataset(tmp_path)

    for ours, other in zip(made.versions(), theirs.versions(), strict=True):
        apart = abs(ours.pop("timestamp") - other.pop("timestamp"))
        assert apart <= timedelta(microseconds=1)  # theirs goes through a float
        assert ours == other
    assert [1] == theirs.to_table()["a"].to_pylist()
    described = importlib.import_module("lance.dataset").Version
    assert set(pylanceref.history.Version.__annotations__) == set(described.__annotations__)
    assert "Restore" == type(theirs.read_transaction(3).operation).__name__
