"""Rows as data frames."""

import io

import pyarrow as pa
import pylanceref
import pytest

BLOBS = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
ROWS = pa.table(
    {"a": [1, 2, 3], "b": [b"x", None, b"yz"]}, schema=pa.schema([("a", "int64"), BLOBS])
)


def _made(module, root):
    return module.write_dataset(ROWS, root, data_storage_version="2.1")


def test_rows_are_a_frame(tmp_path):
    """Scans and fragments take the arguments of both."""
    pytest.importorskip("pandas")
    made = pylanceref.write_dataset(pa.table({"a": [1, 2, 3], "s": ["x", "y", None]}), tmp_path)
    assert made.to_table().to_pandas().equals(made.to_pandas())
    assert [2] == made.to_pandas(["a"], filter="a = 2")["a"].tolist()
    frame = made.get_fragments()[0].to_pandas(limit=2, strings_to_categorical=True)
    assert (2, "category") == (len(frame), frame["s"].dtype)


@pytest.mark.parametrize("columns", [None, ["b"]])
def test_blobs_are_files(tmp_path, columns):
    """Or bytes, or descriptions; the address they are found by is not shown."""
    pytest.importorskip("pandas")
    made = _made(pylanceref, tmp_path)
    lazy = made.to_pandas(columns)
    assert (columns or ["a", "b"]) == list(lazy.columns)
    first, none, last = lazy["b"]
    assert none is None
    assert isinstance(first, io.BufferedIOBase)
    assert (b"x", b"yz") == (first.read(), last.read())
    assert [b"x", None, b"yz"] == made.to_pandas(columns, blob_mode="bytes")["b"].tolist()
    assert 2 == made.to_pandas(columns, blob_mode="descriptions")["b"][2]["size"]
    with pytest.raises(ValueError, match="blob_mode"):
        made.to_pandas(blob_mode="foo")


@pytest.mark.oracle
def test_the_oracle_has_the_same_frames(tmp_path):
    """Of the same table."""
    import lance

    theirs, ours = _made(lance, str(tmp_path)), pylanceref.dataset(tmp_path)
    for mode in ("bytes", "descriptions"):
        wanted, found = theirs.to_pandas(blob_mode=mode), ours.to_pandas(blob_mode=mode)
        assert wanted.equals(found)
    assert [None if one is None else one.read() for one in theirs.to_pandas()["b"]] == [
        None if one is None else one.read() for one in ours.to_pandas()["b"]
    ]


def test_blobs_are_found_under_any_name_and_in_structs(tmp_path):
    """An alias of a column or of a part of it; an expression over one is none."""
    pytest.importorskip("pandas")
    info = pa.StructArray.from_arrays(
        [pa.array(["p", "q", "r"]), ROWS["b"].combine_chunks()],
        fields=[pa.field("n", pa.string()), pa.field("b", pa.large_binary(), True, BLOBS.metadata)],
        mask=pa.array([False, False, True]),
    )
    field = pa.field("info", info.type)
    rows = pa.table([ROWS["a"], ROWS["b"], info], schema=ROWS.schema.append(field))
    made = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.1")
    whole = made.to_pandas(blob_mode="bytes")["info"].tolist()
    columns = {"x": "b", "y": "info.b", "z": "info", "none": "b IS NULL", "two": "a + 1"}
    frame = made.scanner(columns).to_pandas(blob_mode="bytes")

    assert [{"n": "p", "b": b"x"}, {"n": "q", "b": None}, None] == whole == frame["z"].tolist()
    assert list(columns) == list(frame.columns)
    assert [b"x", None, b"yz"] == frame["x"].tolist()
    assert [b"x", None, None] == frame["y"].tolist()
    assert [2, 3, 4] == frame["two"].tolist()
    alone = made.scanner({"b": "info.b"}, filter="a = 1").to_pandas(blob_mode="bytes")
    assert [b"x"] == alone["b"].tolist()
    lazy = made.scanner(["info"], filter="a = 1").to_pandas()
    assert b"x" == lazy["info"][0]["b"].read()


def test_a_struct_of_a_blob_alone(tmp_path):
    """It is a dict of one entry."""
    pytest.importorskip("pandas")
    field = pa.field("b", pa.large_binary(), True, BLOBS.metadata)
    info = pa.StructArray.from_arrays([ROWS["b"].combine_chunks()], fields=[field])
    made = pylanceref.write_dataset(pa.table({"info": info}), tmp_path, data_storage_version="2.1")

    assert [{"b": b"x"}, {"b": None}, {"b": b"yz"}] == made.to_pandas(blob_mode="bytes")[
        "info"
    ].tolist()
