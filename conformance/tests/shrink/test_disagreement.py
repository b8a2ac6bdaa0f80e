"""Disagreement: its kinds, and what is kept of bytes."""

import pyarrow as pa
import pytest
from lance_conformance.shrink.disagreement import Reading, laid_out, signature, taken_in

ONE = pa.table({"a": pa.array([1, 2], pa.int32())})


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (Reading("reads", ONE), Reading("reads", ONE), ""),
        (Reading("refuses", detail="x"), Reading("refuses", detail="y"), ""),
        (Reading("crash"), Reading("crash"), ""),
        (Reading("reads", ONE), Reading("refuses"), "reads, refuses"),
        (Reading("panic"), Reading("refuses"), "panic, refuses"),
        (Reading("reads", ONE), Reading("reads", ONE.slice(1)), "other numbers of rows"),
        (
            Reading("reads", ONE),
            Reading("reads", ONE.cast(pa.schema([("a", pa.int64())]))),
            "other types",
        ),
        (
            Reading("reads", ONE),
            Reading("reads", pa.table({"a": pa.array([1, 3], pa.int32())})),
            "other values",
        ),
    ],
)
def test_kinds(first, second, kind):
    """Words first, then numbers of rows, types, values; equal is no disagreement."""
    assert kind == signature(first, second)


@pytest.mark.parametrize("names", [["data.lance"], ["_versions/1.manifest", "data/x.lance"]])
def test_bytes_go_out_and_come_in(tmp_path, names):
    """A single file is a file, several are a folder."""
    files = {name: name.encode() for name in names}
    place = laid_out(files, tmp_path)

    assert (len(names) > 1) == place.is_dir()
    assert files == taken_in(place)
