"""Face: what the adapters of Python libraries share."""

from pathlib import Path

import pyarrow as pa
import pylanceref
from lance_conformance.adapters import face
from lance_conformance.stored import materialised
from pylanceref.file import LanceFileReader

BLOBS = materialised(Path(__file__).parents[3] / "fixtures/table/any/blob/first-kind/dataset")


def test_blobs_are_asked_for_as_bytes(tmp_path):
    """Whether the library names the argument or takes any."""
    read = face.operations(LanceFileReader, pylanceref.dataset)["dataset.read"]
    told = read({"uri": str(BLOBS), "out": str(tmp_path / "out.arrow")})
    table = pylanceref.dataset(BLOBS).to_table(blob_handling="all_binary")

    assert str(table.num_rows) == told["num_rows"]
    assert "large_binary" == str(pa.ipc.open_file(told["out"]).read_all().schema.field("b").type)
