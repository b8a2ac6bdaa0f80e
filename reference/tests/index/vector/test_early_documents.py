"""What early documents say of vector indices, held against frozen files of the oracle."""

from __future__ import annotations

import json
from pathlib import Path

import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.proto import index_pb2
from pylanceref.file import LanceFileReader

FROZEN = Path(__file__).parents[4] / "fixtures" / "index" / "any"


def files(case: str, name: str) -> list[LanceFileReader]:
    """Return the files of a name that a case has, in the segments of every version."""
    found = materialised(FROZEN / case / "dataset").glob(f"_indices/*/{name}")
    return [LanceFileReader(path) for path in sorted(found)]


def texts(file: LanceFileReader) -> dict[str, str]:
    """Return the metadata of a file."""
    held = file.metadata().schema.metadata
    return {key.decode(): value.decode() for key, value in held.items()}


def stored(case: str) -> dict[str, object]:
    """Return what a case says of its storage."""
    (file,) = files(case, "auxiliary.idx")
    (said,) = json.loads(texts(file)["storage_metadata"])
    return json.loads(said)


def partitions(file: LanceFileReader) -> index_pb2.IVF:
    """Return the message in the first buffer after the descriptor."""
    assert "1" == texts(file)["lance:ivf"]
    return index_pb2.IVF.FromString(bytes(file.read_global_buffer(1)))


def columns(file: LanceFileReader) -> dict[str, bool]:
    """Return the columns of a file, and which are nullable."""
    return {one.name: one.nullable for one in file.metadata().schema}


def test_the_codebook_has_two_sizes():
    """And is one of numbers by sub-vector; a list in the metadata is empty."""
    (file,) = files("ivf-pq/plain", "auxiliary.idx")
    tensor = index_pb2.Tensor.FromString(bytes(file.read_global_buffer(2)))
    assert [16, 8] == list(tensor.shape)
    said = stored("ivf-pq/plain")
    assert [] == said["codebook_tensor"] and 2 == said["codebook_position"]
    assert "pq" not in said


def test_codes_are_transposed_once_they_are_whole():
    """Those of segments that can still be merged lie row by row."""
    waiting = files("ivf-pq/side-by-side", "auxiliary.idx")
    ways = [
        '"transposed":false' in texts(one)["storage_metadata"].replace("\\", "") for one in waiting
    ]
    assert stored("ivf-pq/plain")["transposed"] is True
    assert [True, True] == ways


def test_a_head_without_graphs():
    """Has a text for each partition, no rows, and columns that depend on who made it."""
    (built,) = files("ivf-flat/plain", "index.idx")
    assert ["", ""] == json.loads(texts(built)["lance:flat"])
    assert {"__flat_marker": False} == columns(built)
    assert [0, 0] == list(partitions(built).lengths)
    merged = [texts(one)["lance:flat"] for one in files("ivf-flat/merged", "index.idx")]
    assert '["{}","{}"]' in merged


def test_a_head_with_graphs_counts_their_rows():
    """Which are more than vectors: a node has one on each of its levels."""
    (head,) = files("ivf-hnsw-flat/plain", "index.idx")
    assert head.num_rows() == sum(partitions(head).lengths) > 80


def test_columns_are_nullable_but_for_vectors():
    """Row ids and codes are, `flat` is not."""
    for case, wanted in (
        ("ivf-sq/plain", {"_rowid": True, "__sq_code": True}),
        ("ivf-flat/plain", {"_rowid": True, "flat": False}),
    ):
        (file,) = files(case, "auxiliary.idx")
        assert wanted == columns(file)


@pytest.mark.parametrize(("case", "bits"), [("ivf-rq/plain", 1), ("ivf-rq/plain-5", 5)])
def test_rq_says_its_bits_and_signs(case, bits):
    """There are the signs of four rounds, no matrix, and columns by the bits."""
    said = stored(case)
    assert (bits, 8, None, "fast") == tuple(
        said[name] for name in ("num_bits", "code_dim", "rotate_mat_position", "rotation_type")
    )
    assert 4 == len(said["fast_rotation_signs"]) and "raw_query" == said["query_estimator"]
    (file,) = files(case, "auxiliary.idx")
    assert "lance:rabit" not in texts(file)
    assert 2 == len(file.metadata().global_buffers)
    assert ("__blocked_ex_codes" in columns(file)) == (bits > 1) and "__error_factors" in columns(
        file
    )


@pytest.mark.parametrize(("case", "version"), [("ivf-rq/plain", 2), ("ivf-flat/plain", 1)])
def test_versions_of_entries(case, version):
    """RQ has 2, others 1."""
    dataset = pylanceref.dataset(materialised(FROZEN / case / "dataset"))
    (index,) = dataset._snapshot.indices.known
    assert version == index.segments[0].entry.index_version


def test_an_early_index_is_one_file():
    """There is no file of vectors beside it."""
    found = materialised(FROZEN / "ivf-pq/early-plain/dataset").glob("_indices/*/*")
    assert ["index.idx"] == [path.name for path in found]
