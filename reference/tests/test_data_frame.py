"""Rows as data frames."""

import io

import lanceref
import pyarrow as pa
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
    made = lanceref.write_dataset(pa.table({"a": [1, 2, 3], "s": ["x", "y", None]}), tmp_path)
    assert made.to_table().to_pandas().equals(made.to_pandas())
    assert [2] == made.to_pandas(["a"], filter="a = 2")["a"].tolist()
    frame = made.get_fragments()[0].to_pandas(limit=2, strings_to_categorical=True)
    assert (2, "category") == (len(frame), frame["s"].dtype)


@pytest.mark.parametrize("columns", [None, ["b"]])
def test_blobs_are_files(tmp_path, columns):
    """Or bytes, or descriptions; the address they are found by is not shown."""
    pytest.importorskip("pandas")
    made = _made(lanceref, tmp_path)
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

    theirs, ours = _made(lance, str(tmp_path)), lanceref.dataset(tmp_path)
    for mode in ("bytes", "descriptions"):
        wanted, found = theirs.to_pandas(blob_mode=mode), ours.to_pandas(blob_mode=mode)
        assert wanted.equals(found)
    assert [None if one is None else one.read() for one in theirs.to_pandas()["b"]] == [
        None if one is None else one.read() for one in ours.to_pandas()["b"]
    ]
