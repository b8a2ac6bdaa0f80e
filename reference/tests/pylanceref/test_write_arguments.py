"""What a write is given: rows in every form, options of files, bases."""

from pathlib import Path
from types import SimpleNamespace

import lanceref
import pyarrow as pa
import pyarrow.dataset as pads
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from pylanceref import DatasetBasePath, dataset, write_dataset
from pylanceref.blob import blob_array, blob_field
from pylanceref.types import reader_of

TABLE = pa.table({"a": pa.array([1, 2, 3], pa.int64()), "b": ["x", "y", None]})


class Streamed:
    """What a dataset of Hugging Face is taken by: tables of at most so many rows."""

    __module__, features = "datasets.iterable_dataset", SimpleNamespace(arrow_schema=TABLE.schema)

    def with_format(self, _):
        return SimpleNamespace(iter=lambda rows: iter([TABLE[:2], TABLE[2:rows]]))


ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": None}]


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        pads.dataset(TABLE),
        pads.dataset(TABLE).scanner(),
        TABLE.to_pydict(),
        ROWS,
        Streamed(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_form_gives_the_same_rows(data):
    """Tables, batches, readers, datasets, scanners, columns and rows."""
    assert TABLE.equals(reader_of(data).read_all())


def test_batches_are_cast_to_the_schema(tmp_path):
    """An iterator of batches needs one; our own tables and scans have one."""
    schema = pa.schema({"a": pa.int8(), "b": pa.large_string()})

    assert TABLE.cast(schema).equals(reader_of(iter(TABLE.to_batches()), schema).read_all())
    with pytest.raises(ValueError, match="Must provide schema"):
        reader_of(TABLE.to_batches())
    ds = write_dataset(TABLE, tmp_path)
    assert TABLE.equals(reader_of(ds).read_all())
    assert TABLE.slice(1, 1).equals(reader_of(ds.scanner(limit=1, offset=1)).read_all())


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (5, TypeError, "Unknown data type"),
        (iter([1]), TypeError, "Expected RecordBatch"),
        (iter([pa.record_batch({"a": ["x"]})]), ValueError, "a batch with schema"),
        (TABLE.replace_schema_metadata({"k": b"\xff"}), ValueError, "utf8"),
    ],
)
def test_other_things_are_refused(data, error, text):
    """What cannot become rows is refused as by pylance; and metadata that is no UTF-8."""
    with pytest.raises(error, match=text):
        reader_of(data, pa.schema({"a": pa.int8()})).read_all()


def test_an_iterator_fails_with_its_own_words():
    """While it is read; names that are not those of the schema are reported."""
    schema = pa.schema([("a", pa.int64())])

    def rows(second):
        yield pa.record_batch({"a": [1]})
        if second is None:
            raise RuntimeError("no more")
        yield second

    for given in (
        reader_of(rows(None), schema),
        reader_of(pa.RecordBatchReader.from_batches(schema, rows(None))),
    ):
        with pytest.raises(OSError, match="RuntimeError: no more"):
            given.read_all()
    with pytest.raises(OSError, match=r"field names are not matching.*\['b'\], \['a'\]"):
        reader_of(rows(pa.record_batch({"b": [1]})), schema).read_all()


NUMBERS = pa.table({"a": [1, 2, 3], "b": [1, 2, 3]})

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
    "mode": ({"mode": "other"}, ValueError),
    "blob mode": ({"external_blob_mode": "x"}, ValueError),
    "progress": ({"progress": 5}, OSError),
    "lock": ({"commit_lock": 5}, TypeError),
    "bases": ({"initial_bases": ["x"]}, ValueError),
    "targets": ({"target_bases": "one"}, TypeError),
    "schema": ({"schema": 5}, TypeError),
    "destination": ({"uri": None}, ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(tmp_path, maker, name):
    """Wrong options of a write are refused, by the oracle too; ours before anything is written."""
    arguments, error = WRONG[name]
    data = iter(NUMBERS.to_batches()) if name == "schema" else NUMBERS
    with pytest.raises(error):
        maker.write_dataset(data, **{"uri": str(tmp_path / "t"), **arguments})
    assert maker.__name__ == "lance" or not (tmp_path / "t").exists()


FIELD = blob_field("b", inline_size_threshold=2, dedicated_size_threshold=10)
VALUES = [b"abc", b"0123456789abc", b"x"]
BLOBS = pa.table([blob_array(VALUES)], schema=pa.schema([FIELD]))


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


REFUSED = [
    ({"initial_bases": [DatasetBasePath("/x")], "mode": "append"}, "in Append mode"),
    ({"initial_bases": [DatasetBasePath("/x")], "mode": "overwrite"}, "in Overwrite mode"),
    ({"target_bases": ["three"], "mode": "append"}, "'three' not found"),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_wrong_choices_are_refused(tmp_path, arguments, text):
    """The table stays as it is."""
    write_dataset(BLOBS, tmp_path / "t", initial_bases=_bases(tmp_path))
    with pytest.raises(DataRefused, match=text):
        write_dataset(BLOBS, tmp_path / "t", **arguments)
    assert dataset(tmp_path / "t").latest_version == 1


def test_ids_are_given_or_counted(tmp_path):
    """From 1 among those without one; none is used twice."""

    def write(*ids: int | None) -> list[int]:
        bases = [DatasetBasePath(f"/x{n}", id=one) for n, one in enumerate(ids)]
        name = "-".join(map(str, ids))
        ds = write_dataset(BLOBS, tmp_path / name, initial_bases=bases)
        return [base.id for base in ds._snapshot.manifest.message.base_paths]

    assert write(7, None, 0) == [7, 1, 2]
    with pytest.raises(DataRefused, match="Duplicate base path ID 2"):
        write(2, None, None)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.2"])
def test_tables_with_bases_are_the_oracles(tmp_path, version):
    """Where files lie, and what manifest and transaction say; the oracle reads and goes on."""
    import lance

    table = BLOBS if version == "2.2" else pa.table({"a": [1, 2, 3]})
    steps = [
        {"target_bases": ["two", "one"], "max_rows_per_file": 1},
        {"mode": "append", "target_bases": ["one", "two"], "max_rows_per_file": 2},
        {"mode": "overwrite", "target_bases": ["one"]},
        {"mode": "append"},
    ]
    found = []
    for library, name in ((lance, "theirs"), (pylanceref, "ours")):
        folder, base = tmp_path / name, library.DatasetBasePath
        bases = [base(b.path, b.name, b.is_dataset_root) for b in _bases(folder)]
        rows = []
        for number, step in enumerate(steps):
            given = {"initial_bases": bases, "data_storage_version": version} if not number else {}
            made = library.write_dataset(table, str(folder / "t"), **given, **step)
            message = dataset(folder / "t")._snapshot.manifest.message
            entries = [file for one in message.fragments for file in one.files]
            bases_said = [(b.id, b.name, b.is_dataset_root) for b in message.base_paths]
            rows.append([[file.base_id for file in entries], sorted(bases_said)])
            rows.append([message.reader_feature_flags, message.writer_feature_flags])
        branch = dataset(made.create_branch("b").uri)._snapshot.manifest.message
        rows.append(sorted(one.id for one in branch.base_paths))
        assert [] == lanceref.validate(folder / "t", deep=True)
        found.append([rows, _files(folder)])
    assert found[0] == found[1]
    expected = lance.dataset(str(tmp_path / "theirs" / "t")).to_table()
    assert lance.dataset(str(tmp_path / "ours" / "t")).to_table().equals(expected)
