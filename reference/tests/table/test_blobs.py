"""Blobs: how rows give them, where they are stored, and that both libraries read them."""

from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref import validate
from lanceref.blobs import blob_writer
from lanceref.core.errors import DataRefused, NotStorable, SchemaRefused
from lanceref.core.file_versions import V2_0, V2_2
from lanceref.file.schema import BLOB_EXTENSION
from pylanceref import DatasetBasePath, LanceOperation, dataset, write_dataset
from pylanceref.blob import Blob, blob_array, blob_field

ANYWHERE = blob_writer.BlobPolicy(anywhere=True)
INGEST = blob_writer.BlobPolicy(ingest=True)


def _payload(row: object) -> bytes | None:
    assert row is None or isinstance(row, blob_writer.Payload)
    return None if row is None else b"".join(row.parts())


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({}, "row 1 must set exactly one of `data` and `uri`"),
        ({"data": b"a", "uri": "u:x"}, "must set exactly one"),
        ({"uri": "u:x", "position": 1}, "must set both"),
        ({"uri": "u:x", "size": 1}, "must set both"),
        ({"data": b"a", "position": 1, "size": 1}, "`uri` is null"),
        ({"uri": "u:x", "position": 1, "size": 0}, "greater than zero"),
        ({"uri": "relative"}, "not a valid absolute URI"),
        ({"uri": "/absolute"}, "not a valid absolute URI"),
    ],
)
def test_a_row_that_is_no_blob_is_refused(row, text):
    """The refusal names row and field; descriptions that a read returned are not written again."""
    with pytest.raises(DataRefused, match=text):
        rows = pa.array([{"data": b"a"}, row], blob_writer.LONG)
        list(blob_writer.blob_rows(rows, "b", ANYWHERE))
    with pytest.raises(DataRefused, match="holds no bytes"):
        rows = pa.array([{"position": 1, "size": 2}])
        list(blob_writer.blob_rows(rows, "b", blob_writer.IN_PLACE))


def test_an_object_that_is_not_there_is_refused(tmp_path):
    """A missing object and a range beyond its end are refused."""
    path = tmp_path / "x"
    with pytest.raises(DataRefused, match="Not found"):
        list(blob_writer.blob_rows(pa.array([{"uri": str(path)}], blob_writer.LONG), "b", INGEST))
    path.write_bytes(b"0123456789")
    rows = pa.array([{"uri": str(path), "position": 8, "size": 3}], blob_writer.LONG)
    (row,) = blob_writer.blob_rows(rows, "b", INGEST)
    with pytest.raises(DataRefused, match="fill whole buffer"):
        _payload(row)


FIRST = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "TRUE", "k": "v"})
SECOND = {"ARROW:extension:name": BLOB_EXTENSION}


def _declared(field: pa.Field, version=V2_2) -> pa.Field:
    (found,) = blob_writer.declared_schema(pa.schema([field]), version)
    return found


def test_fields_inside_others_are_found():
    """Blob fields inside structs, lists and maps are declared, and others unchanged."""
    plain = pa.field("p", pa.list_(pa.field("x", pa.dictionary(pa.int8(), pa.utf8()), False)))
    nested = pa.struct([plain, FIRST])
    for type_ in (
        pa.list_(nested),
        pa.large_list(nested),
        pa.list_(nested, 2),
        pa.map_(pa.utf8(), nested),
    ):
        given = pa.field("f", type_, metadata={"k": "v"})
        found = _declared(given)
        assert found.metadata == given.metadata
        assert str(found.type) == str(given.type).replace(
            "large_binary", "struct<data: large_binary, uri: string>"
        )
    assert _declared(plain) == plain


def test_what_cannot_be_declared_is_refused():
    """Blobs of the second kind before 2.2 and of other layouts are refused."""
    with pytest.raises(NotStorable, match=r"requires file version >= 2.2 \(got 2.0\)"):
        _declared(blob_field("b"), V2_0)
    with pytest.raises(DataRefused, match=r"unrecognized layout \['data'\]"):
        _declared(pa.field("b", pa.struct([("data", pa.binary())]), metadata=SECOND))


SMALL = {"inline_size_threshold": 2, "dedicated_size_threshold": 10}
VERSIONS = ["2.2", "2.3"]


def _table(*columns: list, **thresholds: int) -> pa.Table:
    fields = [blob_field(name, **{**SMALL, **thresholds}) for name, _ in zip("bcd", columns)]
    return pa.table([blob_array(values) for values in columns], schema=pa.schema(fields))


def test_the_bytes_of_every_row_are_looked_for(tmp_path):
    """A sidecar that is gone is found, whether the first row leads to it or the last."""
    write_dataset(_table([b"first of all", b"x", b"the second", b"last of all"]), tmp_path)
    sidecars = sorted(tmp_path.rglob("*.blob"))

    assert [] == validate(tmp_path, deep=True)
    assert 3 == len(sidecars)
    for path in sidecars:
        data = path.read_bytes()
        path.unlink()
        assert ["L.blob.sidecar"] == [one.clause for one in validate(tmp_path, deep=True)]
        path.write_bytes(data)


def test_a_write_that_fails_leaves_no_file(tmp_path):
    """A failing write removes data files and blob files."""
    table = pa.concat_tables([_table([b"abc", b"0123456789abc"]), _table(["x:nothing"])])
    with pytest.raises(DataRefused):
        write_dataset(table, tmp_path, max_rows_per_file=2)
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("key", "text"),
    [("inline-size", "x"), ("inline-size", "-1"), ("dedicated-size", "0"), ("pack-file-size", "")],
)
def test_a_threshold_is_a_number(tmp_path, key, text):
    """Thresholds are numbers of bytes, and only that of inline blobs may be 0."""
    field = blob_field("b").with_metadata({f"lance-encoding:blob-{key}-threshold": text})
    with pytest.raises(DataRefused, match="Invalid blob threshold metadata"):
        write_dataset(pa.table([blob_array([b"a"])], schema=pa.schema([field])), tmp_path)


REWRITES = {
    "compact": lambda it: it.optimize.compact_files(),
    "update": lambda it: it.update({"i": "i + 1"}),
    "merge": lambda it: (
        it.merge_insert("i").when_matched_update_all().execute(pa.table({"i": [2]}))
    ),
    "columns": lambda it: it.commit(it, _updated(it), read_version=1),
}


def _updated(made) -> LanceOperation.BaseOperation:
    right = _table([b"d"]).append_column("i", [[1]])
    fragment, fields = made.get_fragments()[0].update_columns(right, "i", "i")
    return LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)


@pytest.mark.parametrize("rewrite", REWRITES)
def test_references_stay_when_rows_are_written_again(tmp_path, rewrite):
    """External blobs stay outside, even where the object is gone, with base and range."""
    (base := tmp_path / "base").mkdir()
    outside = Blob(uri=f"file://{base / 'x'}", position=3, size=4)
    table = _table([b"a", outside, "file:///none"]).append_column("i", [[1, 2, 3]])
    bases = [DatasetBasePath(str(base), is_dataset_root=False)]
    given = {"initial_bases": bases, "allow_external_blob_outside_bases": True}
    made = write_dataset(table, tmp_path / "t", max_rows_per_file=2, **given)
    REWRITES[rewrite](made)
    rows = dataset(tmp_path / "t").to_table(columns=["b"])["b"].to_pylist()
    found = sorted(tuple(row.values())[2:] for row in rows)
    assert found == [(0, 0, "file:///none"), (1, 0, ""), (4, 1, "x")]


ROWS = st.lists(st.none() | st.binary(max_size=20), max_size=12)


@settings(max_examples=15)
@given(ROWS, st.sampled_from(VERSIONS), st.integers(1, 12), st.integers(1, 40))
def test_any_blobs_read_back(tmp_path_factory, values, version, most_rows, most_bytes):
    """Blobs are read back for any rows per file, bytes per shared file and rows per batch."""
    root = tmp_path_factory.mktemp("t")
    lists = pa.ListArray.from_arrays([0, len(values) // 2, len(values)], blob_array(values))
    table = _table(values, pack_file_size_threshold=most_bytes)
    write_dataset(table, root / "a", data_storage_version=version, max_rows_per_file=most_rows)
    write_dataset(pa.table({"b": lists}), root / "b", data_storage_version=version)
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    first = pa.table([pa.array(values, field.type)], schema=pa.schema([field]))
    write_dataset(first.to_reader(most_rows), root / "c", data_storage_version="2.1")
    rows = first.append_column("i", [pa.array(range(len(values)), pa.int64())])
    merged = write_dataset(rows.slice(0, 0), root / "d", data_storage_version="2.2")
    merged.merge_insert("i").when_not_matched_insert_all().execute(rows)

    halves = [values[: len(values) // 2]]
    for name, wanted in (("a", values), ("b", halves), ("c", values), ("d", values)):
        shown = dataset(root / name).to_table(blob_handling="all_binary")["b"].to_pylist()
        assert shown[: len(wanted)] == wanted
        assert [] == validate(root / name)


def _oracle_cases(uri: str) -> dict[str, tuple[pa.Table, dict[str, object]]]:
    one = _table([b"aaa", b"a" * 11, b"b" * 8, b"x"], [b"ccc", b"c" * 11, b"d" * 8, None])
    other = one.cast(
        pa.schema([one.field(0), blob_field("c", **SMALL, pack_file_size_threshold=9)])
    )
    first = pa.array([b"x" * 10, None, b"", b"y" * 70000], pa.large_binary())
    first_field = pa.field("b", first.type, metadata={"lance-encoding:blob": "true", "k": "v"})
    outside = _table([uri, Blob(uri=uri, position=3, size=4), b"q"])
    short = pa.array([{"data": b"abc"}, None, {"data": b""}], blob_array([]).type.storage_type)
    structs = pa.StructArray.from_arrays(
        [blob_array([b"aaa", None, b"x"]), pa.array([1, 2, 3])],
        fields=[blob_field("b", **SMALL), pa.field("i", pa.int64())],
        mask=pa.array([False, False, True]),
    )
    lists = pa.ListArray.from_arrays(pa.array([0, 2, None, 3]), blob_array([b"aaa", None, b"x"]))
    metadata = {"ARROW:extension:name": "lance.blob.v2"}
    return {
        "two": (pa.concat_tables([one, one]), {}),
        "limits": (pa.concat_tables([other, other]), {}),
        "files": (pa.concat_tables([one, one]), {"max_rows_per_file": 3}),
        "call": (pa.concat_tables([other, other]), {"blob_pack_file_size_threshold": 6}),
        "kept": (outside, {"allow_external_blob_outside_bases": True}),
        "taken": (outside, {"external_blob_mode": "ingest"}),
        "first": (pa.table([first], schema=pa.schema([first_field])), {}),
        "storage": (
            pa.table([short], schema=pa.schema([pa.field("b", short.type, metadata=metadata)])),
            {},
        ),
        "structs": (pa.table({"s": structs}), {}),
        "lists": (pa.table({"s": lists, "i": [1, 2, 3]}), {}),
        "large": (_table([b"a" * n for n in (1 << 16, (1 << 16) + 1, 4 << 20)]), {}),
        "none": (_table([]), {}),
        "nulls": (_table([None, None]), {}),
    }


def _files_of(root: Path) -> list[tuple[str, list[int]]]:
    """The files of a table without their random names; map entries may come in any order."""
    paths = [path for path in (root / "data").rglob("*") if path.is_file()]
    return sorted(
        (path.name if path.suffix == ".blob" else "", sorted(path.read_bytes())) for path in paths
    )


@pytest.mark.oracle
@pytest.mark.parametrize("version", VERSIONS)
def test_tables_are_the_oracles(tmp_path, version):
    """Files, schema and rows are those of the oracle for both readers."""
    import lance

    (tmp_path / "x").write_bytes(b"0123456789")
    for name, (table, arguments) in _oracle_cases(f"file://{tmp_path / 'x'}").items():
        ours, theirs = tmp_path / f"{name}-ours", tmp_path / f"{name}-theirs"
        write_dataset(table, ours, data_storage_version=version, **arguments)
        wanted = lance.write_dataset(table, theirs, data_storage_version=version, **arguments)
        if not (name == "structs" and version == "2.3"):
            assert _files_of(ours) == _files_of(theirs), name
        assert dataset(ours).lance_schema == dataset(theirs).lance_schema, name
        for reader in (lance.dataset(ours), dataset(ours)):
            assert reader.schema.equals(wanted.schema, check_metadata=True), name
            for handling in ("all_binary", "blobs_descriptions"):
                expected = wanted.to_table(blob_handling=handling)
                assert reader.to_table(blob_handling=handling).equals(expected), name
        assert [] == validate(ours), name


@pytest.mark.parametrize(
    ("own", "given", "fits"),
    [
        ({"inline_size_threshold": 4096}, {"inline_size_threshold": 1024}, False),
        ({"inline_size_threshold": 4096}, {"inline_size_threshold": 4096}, True),
        ({"inline_size_threshold": 4096}, {}, True),
        ({}, {"inline_size_threshold": 1024}, False),
        ({}, {"inline_size_threshold": 65536}, True),
        ({"pack_file_size_threshold": 5000}, {"pack_file_size_threshold": 6000}, False),
        ({"inline_size_threshold": 4096}, {"dedicated_size_threshold": 6000}, False),
    ],
)
def test_thresholds_are_those_of_the_table(tmp_path, own, given, fits):
    """Appended rows may repeat thresholds of the table and not name others."""
    for nested in (False, True):
        root = tmp_path / f"{nested}"
        for mode, thresholds in (("create", own), ("append", given)):
            field, values = blob_field("b", **thresholds), blob_array([b"x"])
            if nested:
                values = pa.StructArray.from_arrays([values], fields=[field])
                field = pa.field("s", pa.struct([field]))
            rows = pa.table([values], schema=pa.schema([field]))
            refused = mode == "append" and not fits
            told = pytest.raises(SchemaRefused, match="effective value")
            with told if refused else nullcontext():
                write_dataset(rows, root, mode=mode, data_storage_version="2.2")
