"""Files of a dataset: named by versions, and lying there, by hand and as pylance lists them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest

from .sql.written import write


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Written, one row deleted, indexed."""
    dataset = write(pa.table({"i": range(6)}), tmp_path_factory.mktemp("files"))
    dataset.delete("i = 2")
    dataset.create_scalar_index("i", "BTREE")
    return dataset


def test_files_of_every_version(dataset):
    """Each version names its own manifest and transaction, and what it took over."""
    told: list[tuple[int, int | None]] = []
    rows = dataset.tracked_files(progress=lambda *done: told.append(done)).read_all()
    held: dict[int, list[str]] = {}
    for row in rows.to_pylist():
        held.setdefault(row["version"], []).append(row["type"])

    assert [3, 2, 1] == list(held)
    own = ["data file", "manifest", "transaction file"]
    assert own == sorted(held[1])
    assert sorted([*own, "deletion file"]) == sorted(held[2])
    assert sorted([*own, "deletion file", "index file", "index file"]) == sorted(held[3])
    assert [(1, 3), (2, 3), (3, 3)] == told
    assert {2, 3} == set(dataset.tracked_files(min_version=2).read_all()["version"].to_pylist())


def test_files_that_lie_there(dataset):
    """All below the root, with their sizes."""
    root = Path(dataset.uri)
    rows = dataset.all_files().read_all().to_pylist()

    there = {p.relative_to(root).as_posix(): p.stat() for p in root.rglob("*") if p.is_file()}
    assert {row["path"]: row["size_bytes"] for row in rows} == {
        path: found.st_size for path, found in there.items()
    }
    for row in rows:
        assert 1e-3 > abs(row["last_modified"].timestamp() - there[row["path"]].st_mtime)


def test_blobs_are_named(tmp_path):
    """Those that lie beside a data file: whoever removes the rest must not lose them."""
    blobs = pylanceref.blob_array([b"x" * 100_000, b"y"])
    dataset = write(pa.table({"b": blobs}), tmp_path, data_storage_version="2.2")
    paths = dataset.tracked_files().read_all()["path"].to_pylist()

    found = [path.relative_to(dataset.uri) for path in Path(dataset.uri).rglob("*.blob")]
    assert [1] == [paths.count(one.as_posix()) for one in found]


def test_files_of_a_clone_lie_below_its_source(dataset, tmp_path):
    """Its manifest and its transaction are its own."""
    clone = dataset.shallow_clone(tmp_path / "clone", dataset.version)
    rows = clone.tracked_files().read_all().to_pylist()

    own = {row["type"] for row in rows if row["base_uri"] == str(tmp_path / "clone")}
    assert {"manifest", "transaction file"} == own
    there = sorted(row["type"] for row in rows if row["base_uri"] == dataset.uri)
    assert ["data file", "deletion file", "index file", "index file"] == there


@pytest.mark.oracle
def test_the_lists_are_those_of_pylance(dataset):
    """Types and rows, in any order; moments but for the rounding of a microsecond."""
    import lance

    theirs = lance.dataset(dataset.uri)
    for name in ("tracked_files", "all_files"):
        one, other = (getattr(table, name)().read_all() for table in (dataset, theirs))
        assert other.schema == one.schema
        moments = []
        if "last_modified" in one.schema.names:
            for table in (one, other):
                held = table.sort_by("path")["last_modified"].cast(pa.int64())
                moments.append(held.to_numpy())
            assert 1 >= abs(moments[0] - moments[1]).max()
            one, other = (table.drop_columns(["last_modified"]) for table in (one, other))
        rows = [sorted(map(str, table.to_pylist())) for table in (one, other)]
        assert rows[0] == rows[1]


def test_files_of_a_table_are_opened_by_a_session(tmp_path):
    """Below its folder."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path)
    (name,) = (one.name for one in (tmp_path / "data").iterdir())

    assert 2 == made.new_file_session().open_reader(f"data/{name}").num_rows()
