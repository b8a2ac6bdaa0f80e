"""Bases of a table."""

from pathlib import Path

import pyarrow as pa
import pytest
from lanceref import validate
from lanceref.core.errors import DataRefused
from pylanceref import DatasetBasePath, dataset, write_dataset
from pylanceref.blob import blob_array, blob_field

FIELD = blob_field("b", inline_size_threshold=2, dedicated_size_threshold=10)
VALUES = [b"abc", b"0123456789abc", b"x"]
TABLE = pa.table([blob_array(VALUES)], schema=pa.schema([FIELD]))


def _bases(root: Path) -> list[DatasetBasePath]:
    return [
        DatasetBasePath(f"file://{root / 'one'}", "one"),
        DatasetBasePath(str(root / "two"), "two", is_dataset_root=True),
    ]


def _files(root: Path) -> dict[str, int]:
    """Data files and their sidecars by folder."""
    found: dict[str, int] = {}
    for path in root.rglob("*"):
        if path.suffix in (".lance", ".blob"):
            folder = path.parent if path.suffix == ".lance" else path.parent.parent
            name = str(folder.relative_to(root))
            found[name] = found.get(name, 0) + 1
    return found


def test_files_go_where_the_caller_says(tmp_path) -> None:
    """Into a base itself, or into the data folder of one that is the root of a table."""
    root = tmp_path / "t"
    bases = _bases(tmp_path)
    write_dataset(TABLE, root, initial_bases=bases, target_bases=["one"])
    assert _files(tmp_path) == {"one": 3}
    write_dataset(TABLE, root, mode="append", target_bases=[bases[1].path])
    write_dataset(TABLE, root, mode="append")

    assert _files(tmp_path) == {"one": 3, "two/data": 3, "t/data": 3}
    shown = dataset(root).to_table(blob_handling="all_binary")["b"].to_pylist()
    assert shown == VALUES * 3
    assert [] == validate(root)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"target_bases": ["two", "one"]}, [2, 1, 2]),
        ({"target_all_bases": True}, [None, 1, 2]),
        ({"target_all_bases": False}, [1, 2, 1]),
        ({"target_bases": []}, [None] * 3),
    ],
)
def test_files_go_into_the_bases_in_turn(tmp_path, arguments, expected) -> None:
    """In the order asked for; all bases, with the root first or without it."""
    ds = write_dataset(
        TABLE, tmp_path / "t", initial_bases=_bases(tmp_path), max_rows_per_file=1, **arguments
    )
    files = [file for one in ds._snapshot.manifest.message.fragments for file in one.files]
    assert [file.base_id if file.HasField("base_id") else None for file in files] == expected


def test_a_uri_below_a_base_is_kept(tmp_path) -> None:
    """Relative to it, and read from there."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "x").write_bytes(b"0123")
    table = pa.table([blob_array([str(tmp_path / "one" / "x")])], schema=pa.schema([FIELD]))
    ds = write_dataset(table, tmp_path / "t", initial_bases=_bases(tmp_path))

    (row,) = ds.to_table()["b"].to_pylist()
    assert (row["kind"], row["blob_id"], row["blob_uri"]) == (3, 1, "x")
    assert ds.to_table(blob_handling="all_binary")["b"].to_pylist() == [b"0123"]


REFUSED = [
    ({"initial_bases": [DatasetBasePath("/x")], "mode": "append"}, "in Append mode"),
    ({"initial_bases": [DatasetBasePath("/x")], "mode": "overwrite"}, "in Overwrite mode"),
    ({"target_bases": ["three"], "mode": "append"}, "'three' not found"),
    ({"target_bases": ["one"], "target_all_bases": True, "mode": "append"}, "together"),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_wrong_choices_are_refused(tmp_path, arguments, text) -> None:
    """The table stays as it is."""
    write_dataset(TABLE, tmp_path / "t", initial_bases=_bases(tmp_path))
    with pytest.raises(DataRefused, match=text):
        write_dataset(TABLE, tmp_path / "t", **arguments)
    assert dataset(tmp_path / "t").latest_version == 1


def test_ids_are_given_or_counted(tmp_path) -> None:
    """From 1 among those without one; none is used twice."""

    def write(*ids: int | None) -> list[int]:
        bases = [DatasetBasePath(f"/x{n}", id=one) for n, one in enumerate(ids)]
        name = "-".join(map(str, ids))
        ds = write_dataset(TABLE, tmp_path / name, initial_bases=bases)
        return [base.id for base in ds._snapshot.manifest.message.base_paths]

    assert write(7, None, 0) == [7, 1, 2]
    with pytest.raises(DataRefused, match="Duplicate base path ID 2"):
        write(2, None, None)
    with pytest.raises(ValueError, match="DatasetBasePath"):
        write_dataset(TABLE, tmp_path / "x", initial_bases=["x"])
    with pytest.raises(DataRefused, match="no registered bases"):
        write_dataset(TABLE, tmp_path / "x", target_all_bases=False)
    with pytest.raises(TypeError):
        write_dataset(TABLE, tmp_path / "x", target_bases="one")


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.2"])
def test_tables_with_bases_are_the_oracles(tmp_path, version) -> None:
    """Where files lie, and what manifest and transaction say; the oracle reads and goes on."""
    import lance

    table = TABLE if version == "2.2" else pa.table({"a": [1, 2, 3]})
    steps = [
        {"target_bases": ["two", "one"], "max_rows_per_file": 1},
        {"mode": "append", "target_all_bases": True, "max_rows_per_file": 2},
        {"mode": "overwrite", "target_bases": ["one"]},
        {"mode": "append"},
    ]
    found = []
    for library, kind, name in (
        (lance.write_dataset, lance.DatasetBasePath, "theirs"),
        (write_dataset, DatasetBasePath, "ours"),
    ):
        folder = tmp_path / name
        bases = [kind(b.path, b.name, b.is_dataset_root) for b in _bases(folder)]
        rows = []
        for number, step in enumerate(steps):
            given = {"initial_bases": bases, "data_storage_version": version} if not number else {}
            library(table, str(folder / "t"), **given, **step)
            message = dataset(folder / "t")._snapshot.manifest.message
            entries = [file for one in message.fragments for file in one.files]
            bases_said = [(b.id, b.name, b.is_dataset_root) for b in message.base_paths]
            rows.append([[file.base_id for file in entries], sorted(bases_said)])
            rows.append([message.reader_feature_flags, message.writer_feature_flags])
        found.append([rows, _files(folder)])
    assert found[0] == found[1]
    expected = lance.dataset(str(tmp_path / "theirs" / "t")).to_table()
    assert lance.dataset(str(tmp_path / "ours" / "t")).to_table().equals(expected)
