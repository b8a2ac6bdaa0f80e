"""Tables, written: modes, versions, failures, appends as by the oracle."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists, DataRefused
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import open_store
from lanceref.storage.manifests.manifest_names import list_versions
from pylanceref import dataset, write_dataset

VERSIONS = ["0.1", "2.0", "2.1", "2.2", "2.3"]
TABLE = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["x", "y", "z"]}, metadata={"k": "v"})


def test_create_never_replaces(tmp_path):
    """A create over a table is refused, and the table keeps its rows."""
    write_dataset(TABLE, tmp_path)

    with pytest.raises(AlreadyExists):
        write_dataset(TABLE.slice(0, 1), tmp_path)
    assert 3 == dataset(tmp_path).count_rows()


@pytest.mark.parametrize(
    "arguments",
    [{"max_rows_per_file": 0}, {"data_storage_version": "0.1", "max_rows_per_group": 0}],
)
def test_files_and_groups_have_a_row(tmp_path, arguments):
    """No rows per file or group are refused before anything is written; the oracle panics."""
    with pytest.raises(ValueError, match="at least 1"):
        write_dataset(TABLE, tmp_path / "t", **arguments)
    assert not (tmp_path / "t").exists()


def test_row_ids_are_stable_from_the_creation_on(tmp_path):
    """An overwrite goes on counting; the argument means nothing for a table that is there."""
    write_dataset(TABLE, tmp_path / "s", enable_stable_row_ids=True, max_rows_per_file=2)
    ds = write_dataset(TABLE, tmp_path / "s", mode="append")
    assert list(range(6)) == ds.to_table(with_row_id=True)["_rowid"].to_pylist()
    ds = write_dataset(TABLE, tmp_path / "s", mode="overwrite")
    assert [6, 7, 8] == ds.to_table(with_row_id=True)["_rowid"].to_pylist()

    write_dataset(TABLE, tmp_path / "t")
    ds = write_dataset(TABLE, tmp_path / "t", mode="overwrite", enable_stable_row_ids=True)
    assert 1 << 32 == ds.to_table(with_row_id=True)["_rowid"][0].as_py()


def test_rows_that_stop_coming_leave_the_table_as_it_was(tmp_path):
    """No data file of theirs stays either."""
    write_dataset(TABLE, tmp_path)

    def rows():
        yield TABLE.to_batches()[0]
        raise DataRefused("no more")

    with pytest.raises(DataRefused):
        write_dataset(rows(), tmp_path, schema=TABLE.schema, mode="append", max_rows_per_file=1)
    assert 1 == len(list((tmp_path / "data").iterdir()))
    assert TABLE.equals(dataset(tmp_path).to_table())


def _comparable(manifest):
    """A manifest and its transaction without times, names, sizes and who wrote them."""
    found = []
    for message in (manifest.message, manifest.transaction):
        copy = type(message)()
        copy.CopyFrom(message)
        found.append(copy)
    table, transaction = found
    for name in ("timestamp", "transaction_file", "writer_version"):
        table.ClearField(name)
    transaction.ClearField("uuid")
    operation = getattr(transaction, transaction.WhichOneof("operation"))
    for fragment in [*table.fragments, *operation.fragments]:
        for file in fragment.files:
            file.ClearField("path")
            file.ClearField("file_size_bytes")
    return table, transaction


def _manifests(root):
    store = open_store(root)
    return [
        open_snapshot(store, name.version, Context("t")).manifest
        for name in list_versions(store, Context("t"))
    ]


NESTED = pa.table(
    {
        "s": pa.array([{"x": 1, "y": ["q"]}]),
        "l": pa.array([[{"p": 1, "q": 2.5}]]),
        "f": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)),
        "d": pa.array(["a"]).dictionary_encode(),
    }
)

FIRST = ("create", {"commit_message": "hi", "transaction_properties": {"p": "q"}})

HISTORIES = {
    "modes": (TABLE, [FIRST, ("append", {}), ("overwrite", {})]),
    "stable": (
        TABLE,
        [
            ("create", {"enable_stable_row_ids": True, "max_rows_per_file": 2}),
            ("append", {"max_rows_per_group": 1}),
            ("overwrite", {}),
        ],
    ),
    "v1 names": (TABLE, [("create", {"enable_v2_manifest_paths": False}), ("append", {})]),
    "empty": (TABLE.slice(0, 0), [FIRST, ("append", {}), ("overwrite", {})]),
    "nested": (NESTED, [FIRST, ("append", {})]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", HISTORIES)
def test_manifests_are_those_of_the_oracle(tmp_path, name, version):
    """Every field of every version and transaction, but times, names, sizes and the writer."""
    import lance

    table, steps = HISTORIES[name]
    for mode, arguments in steps:
        given = {**arguments, "mode": mode}
        if mode == "create":
            given["data_storage_version"] = version
        lance.write_dataset(table, str(tmp_path / "theirs"), **given)
        write_dataset(table, tmp_path / "ours", **given)

    theirs, ours = _manifests(tmp_path / "theirs"), _manifests(tmp_path / "ours")
    if version == "0.1" and name == "nested":
        for manifest in [*theirs, *ours]:
            for field in manifest.message.fields:
                field.ClearField("dictionary")
    assert [_comparable(one) for one in theirs] == [_comparable(one) for one in ours]


A, B, S = (
    pa.field("a", pa.int64()),
    pa.field("b", pa.string(), nullable=False),
    pa.field("s", pa.struct([("x", pa.int8()), ("y", pa.string())])),
)

ROW = {"a": 1, "b": "q", "s": {"x": 1, "y": "z"}, "z": 3, "A": 1}


def _one_row(*fields, **changes):
    """A table of one row with some fields."""
    row = {**ROW, **changes}
    arrays = [pa.array([row[field.name]], field.type) for field in fields]
    return pa.table(arrays, schema=pa.schema(fields))


APPENDED = {
    "same": _one_row(A, B, S),
    "metadata": _one_row(A, B, S).replace_schema_metadata({"n": "2"}),
    "can be null": _one_row(A, B.with_nullable(True), S),
    "null": _one_row(A, B.with_nullable(True), S, b=None),
    "never null": _one_row(A.with_nullable(False), B, S),
    "missing": _one_row(A, B),
    "missing, never null": _one_row(A, S),
    "unexpected": _one_row(A, B, S, pa.field("z", pa.int8())),
    "order": _one_row(S, B, A),
    "narrow": _one_row(A.with_type(pa.int32()), B, S),
    "large": _one_row(A, B.with_type(pa.large_string()), S),
    "below, missing": _one_row(A, B, S.with_type(pa.struct([S.type.field(0)])), s={"x": 1}),
    "below, unexpected": _one_row(A, B, S.with_type(pa.struct([*S.type, ("z", pa.int8())]))),
    "below, other": _one_row(A, B, S.with_type(pa.struct([("x", pa.int16()), S.type.field(1)]))),
    "case": _one_row(A.with_name("A"), B, S),
    "field metadata": _one_row(A.with_metadata({"k": "v"}), B, S),
    "no rows": _one_row(A, B, S).slice(0, 0),
    "views": _one_row(A, B.with_type(pa.string_view()), S),
    "dictionary": _one_row(A, B.with_type(pa.dictionary(pa.int8(), pa.string())), S),
}


def _appended(library, opened, root, table, versions):
    """What a table is after rows were appended, or the class that refused them."""
    library(_one_row(A, B, S), root, data_storage_version=versions[0])
    try:
        library(table, root, mode="append", data_storage_version=versions[1])
    except (OSError, ValueError) as error:
        return type(error)
    message = dataset(root)._snapshot.manifest.message
    files = [file for one in message.fragments for file in one.files]
    columns = [(list(file.fields), list(file.column_indices)) for file in files]
    return opened(root).to_table(), message.writer_feature_flags, columns


@pytest.mark.oracle
@pytest.mark.parametrize("after", [None, *VERSIONS])
@pytest.mark.parametrize("before", VERSIONS)
def test_appends_are_taken_and_refused_as_by_the_oracle(tmp_path, before, after):
    """Schemas that fit and that do not, into a table of another version too."""
    import lance

    for name in APPENDED if after is None else ("same", "missing"):
        roots = str(tmp_path / f"{name}t"), str(tmp_path / f"{name}o")
        versions = before, after
        theirs = _appended(lance.write_dataset, lance.dataset, roots[0], APPENDED[name], versions)
        ours = _appended(write_dataset, lance.dataset, roots[1], APPENDED[name], versions)
        if isinstance(theirs, type):
            assert isinstance(ours, type), name
            assert issubclass(ours, theirs), name
        else:
            assert ours == theirs, name


def test_rows_without_columns_are_refused(tmp_path):
    """A data file has a field at least; a table without rows needs no file."""
    rows = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    with pytest.raises(DataRefused, match="any fields"):
        write_dataset(rows, tmp_path)
    assert write_dataset(pa.table({}), tmp_path).count_rows() == 0
