"""Files of vector indices, checked by their end."""

from __future__ import annotations

from pathlib import Path

import lanceref
import pytest
from lanceref.explain import explain

from .indexed import points, write


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """A single file."""
    dataset = write(points(300), tmp_path_factory.mktemp("single"))
    said = {"num_sub_vectors": 4, "max_iters": 2, "index_file_version": "LEGACY"}
    dataset.create_index("v", "IVF_PQ", num_partitions=2, **said)
    (path,) = Path(dataset.uri).glob("_indices/*/index.idx")
    return path


def test_every_byte_has_an_owner(single):
    """Codes and row ids of each partition, the message, the footer."""
    found = explain(single)
    assert [] == found.unowned and [] == found.findings
    assert {"uint8[]", "uint64[]", "magic"} <= found.bytes_per_kind().keys()


def test_what_is_wrong_is_found(single, tmp_path):
    """A message that is not where the footer says is reported."""
    data = bytearray(single.read_bytes())
    at = int.from_bytes(data[-16:-8], "little")
    (tmp_path / "index.idx").write_bytes(data[:8] + data[at:])
    found = [one.clause for one in lanceref.validate(tmp_path / "index.idx")]
    assert ["L.index.vector.single.message"] == found
