"""Blobs of the second kind, written."""

from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref import validate
from lanceref.blobs.blob_writer import Thresholds
from lanceref.core.errors import AppendRefused, DataRefused
from pylanceref import dataset, write_dataset
from pylanceref.blob import Blob, blob_array, blob_field

SMALL = {"inline_size_threshold": 2, "dedicated_size_threshold": 10}
VERSIONS = ["2.2", "2.3"]


def _table(*columns: list, **thresholds: int) -> pa.Table:
    fields = [blob_field(name, **{**SMALL, **thresholds}) for name, _ in zip("bcd", columns)]
    return pa.table([blob_array(values) for values in columns], schema=pa.schema(fields))


def _blobs(path: Path) -> list[list[int | str] | None]:
    rows = dataset(path).to_table()["b"].to_pylist()
    return [None if row is None else list(row.values()) for row in rows]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_size_says_where_a_blob_goes(tmp_path, version: str) -> None:
    """Up to 2 bytes inline, up to 10 shared, above alone; nulls and empty blobs go nowhere."""
    values = [b"ab", b"abc", b"0123456789a", None, b"", b"0123456789", b"c"]
    write_dataset(_table(values), tmp_path, data_storage_version=version)

    assert _blobs(tmp_path) == [
        [0, 0, 2, 0, ""],
        [1, 0, 3, 1, ""],
        [2, 0, 11, 2, ""],
        None,
        [0, 64, 0, 0, ""],
        [1, 3, 10, 1, ""],
        [0, 64, 1, 0, ""],
    ]
    assert dataset(tmp_path).to_table(blob_handling="all_binary")["b"].to_pylist() == values
    assert [] == validate(tmp_path)


def test_each_data_file_has_files_of_its_own(tmp_path) -> None:
    """Numbers begin again with each."""
    write_dataset(_table([b"abc"] * 3), tmp_path, max_rows_per_file=1)
    assert _blobs(tmp_path) == [[1, 0, 3, 1, ""]] * 3
    assert 6 == len([path for path in (tmp_path / "data").rglob("*") if path.is_file()])


def test_the_limit_of_the_call_takes_precedence(tmp_path) -> None:
    """Over that of the field."""
    table = _table([b"abc"] * 3, pack_file_size_threshold=3)
    write_dataset(table, tmp_path, blob_pack_file_size_threshold=6)
    assert [row[3] for row in _blobs(tmp_path)] == [1, 1, 2]


def test_objects_are_kept_or_taken_in(tmp_path) -> None:
    """As the caller says; a URI alone is refused."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    uri = f"file://{path}"
    table = _table([uri, Blob.from_uri(uri, 3, 2)])

    with pytest.raises(DataRefused, match="outside registered external bases"):
        write_dataset(table, tmp_path / "t")
    kept = write_dataset(table, tmp_path / "t", allow_external_blob_outside_bases=True)
    assert _blobs(tmp_path / "t") == [[3, 0, 0, 0, uri], [3, 3, 2, 0, uri]]
    taken = write_dataset(table, tmp_path / "u", external_blob_mode="ingest")
    assert _blobs(tmp_path / "u") == [[1, 0, 10, 1, ""], [0, 0, 2, 0, ""]]
    for found in (kept, taken):
        shown = found.to_table(blob_handling="all_binary")["b"].to_pylist()
        assert shown == [b"0123456789", b"34"]


def test_a_write_that_fails_leaves_no_file(tmp_path) -> None:
    """Neither beside the file at hand nor beside those before."""
    table = pa.concat_tables([_table([b"abc", b"0123456789abc"]), _table(["x:nothing"])])
    with pytest.raises(DataRefused):
        write_dataset(table, tmp_path, max_rows_per_file=2)
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_below_a_null_nothing_is_stored(tmp_path) -> None:
    """What a null struct hides is not written, and reads as null."""
    field = blob_field("b", **SMALL)
    structs = pa.StructArray.from_arrays(
        [blob_array([b"abc", b"defg"])], fields=[field], mask=pa.array([False, True])
    )
    found = write_dataset(pa.table({"s": structs}), tmp_path)
    (path,) = tmp_path.rglob("*.blob")
    assert path.read_bytes() == b"abc"
    shown = found.to_table(blob_handling="all_binary")["s"].to_pylist()
    assert shown == [{"b": b"abc"}, None]


@pytest.mark.parametrize(
    ("key", "text"),
    [("inline-size", "x"), ("inline-size", "-1"), ("dedicated-size", "0"), ("pack-file-size", "")],
)
def test_a_threshold_is_a_number(tmp_path, key: str, text: str) -> None:
    """Of bytes; only that of inline blobs can be 0."""
    field = blob_field("b").with_metadata({f"lance-encoding:blob-{key}-threshold": text})
    with pytest.raises(DataRefused, match="Invalid blob threshold metadata"):
        write_dataset(pa.table([blob_array([b"a"])], schema=pa.schema([field])), tmp_path)


def test_thresholds_have_defaults() -> None:
    """64 KiB inline, 4 MiB shared, 1 GiB a shared file."""
    from lanceref.file.arrow_schema import schema_of

    (field,) = schema_of(pa.schema([blob_field("b")])).fields
    assert Thresholds.of(field, None) == Thresholds(1 << 16, 4 << 20, 1 << 30)
    assert Thresholds.of(field, 0).shared == 0


@settings(max_examples=25)
@given(
    st.lists(st.none() | st.binary(max_size=20), max_size=12),
    st.sampled_from(VERSIONS),
    st.integers(1, 12),
    st.integers(1, 40),
)
def test_any_blobs_read_back(tmp_path_factory, values, version, most_rows, most_bytes) -> None:
    """Whatever the rows of a file and the bytes of a shared one."""
    root = tmp_path_factory.mktemp("t")
    lists = pa.ListArray.from_arrays(
        pa.array([0, len(values) // 2, len(values)]), blob_array(values)
    )
    table = _table(values, pack_file_size_threshold=most_bytes)
    write_dataset(table, root / "a", data_storage_version=version, max_rows_per_file=most_rows)
    write_dataset(pa.table({"b": lists}), root / "b", data_storage_version=version)

    for name, wanted in (("a", values), ("b", [values[: len(values) // 2]])):
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
    outside = _table([uri, Blob.from_uri(uri, 3, 4), b"q"])
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


def _files(root: Path) -> list[tuple[str, list[int]]]:
    """The files of a table without their random names; map entries may come in any order."""
    paths = [path for path in (root / "data").rglob("*") if path.is_file()]
    return sorted(
        (path.name if path.suffix == ".blob" else "", sorted(path.read_bytes())) for path in paths
    )


@pytest.mark.oracle
@pytest.mark.parametrize("version", VERSIONS)
def test_tables_are_the_oracles(tmp_path, version: str) -> None:
    """Same files, same schema in the manifest, same rows to both readers."""
    import lance

    (tmp_path / "x").write_bytes(b"0123456789")
    for name, (table, arguments) in _oracle_cases(f"file://{tmp_path / 'x'}").items():
        ours, theirs = tmp_path / f"{name}-ours", tmp_path / f"{name}-theirs"
        write_dataset(table, ours, data_storage_version=version, **arguments)
        wanted = lance.write_dataset(table, theirs, data_storage_version=version, **arguments)
        if not (name == "structs" and version == "2.3"):
            assert _files(ours) == _files(theirs), name
        assert dataset(ours).lance_schema == dataset(theirs).lance_schema, name
        for reader in (lance.dataset(ours), dataset(ours)):
            assert reader.schema.equals(wanted.schema, check_metadata=True), name
            for handling in ("all_binary", "blobs_descriptions"):
                expected = wanted.to_table(blob_handling=handling)
                assert reader.to_table(blob_handling=handling).equals(expected), name
        assert [] == validate(ours), name


@pytest.mark.oracle
def test_refusals_are_the_oracles(tmp_path) -> None:
    """The same class and the same first words."""
    import lance

    type_ = blob_array([]).type.storage_type
    field = pa.field("b", type_, metadata={"ARROW:extension:name": "lance.blob.v2"})
    rows = [{}, {"data": b"a", "uri": "x"}, {"uri": "x"}, {"uri": "x", "size": 1}]
    cases = [(pa.table([pa.array([row], type_)], schema=pa.schema([field])), {}) for row in rows]
    one = _table([b"a"])
    cases += [
        (cases[2][0], {"allow_external_blob_outside_bases": True}),
        (cases[2][0], {"external_blob_mode": "ingest"}),
        (one, {"data_storage_version": "2.1"}),
        (one, {"data_storage_version": "0.1"}),
        (one, {"external_blob_mode": "x"}),
        (one, {"external_blob_mode": "ingest", "allow_external_blob_outside_bases": True}),
    ]
    for number, (table, arguments) in enumerate(cases):
        errors = []
        for library in (lance.write_dataset, write_dataset):
            with pytest.raises((OSError, ValueError)) as caught:
                library(table, str(tmp_path / "t"), **arguments)
            errors.append(caught.value)
        theirs, ours = errors
        assert isinstance(ours, type(theirs)), number
        if number != 5:
            said = str(theirs).removeprefix("Invalid user input: ").partition(" (")[0]
            assert str(ours).startswith(said.partition(", /home")[0]), number


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
    """Rows after others may repeat them and may not name other ones, also within structs."""
    for nested in (False, True):
        root = tmp_path / f"{nested}"
        for mode, thresholds in (("create", own), ("append", given)):
            field, values = blob_field("b", **thresholds), blob_array([b"x"])
            if nested:
                values = pa.StructArray.from_arrays([values], fields=[field])
                field = pa.field("s", pa.struct([field]))
            rows = pa.table([values], schema=pa.schema([field]))
            refused = mode == "append" and not fits
            told = pytest.raises(AppendRefused, match="effective value")
            with told if refused else nullcontext():
                write_dataset(rows, root, mode=mode, data_storage_version="2.2")
