"""Graphs that stand alone."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.file_0_1.data_file import open_legacy
from lanceref.storage import open_source
from pylanceref.util import HNSW

VECTORS = np.random.default_rng(5).normal(size=(20, 4)).astype(np.float32)


def lists(vectors=VECTORS):
    """Return vectors as an array."""
    return pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])


def test_a_graph_is_written_with_its_metadata(tmp_path):
    """The file has a row for each node and level; the vectors are not in it."""
    graph = HNSW.build(iter([lists()[:5], lists()[5:]]), m=4)
    assert graph.vectors() == lists()
    path = tmp_path / "graph.idx"
    graph.to_lance_file(str(path))
    file = open_legacy(open_source(str(path)), Context("graph.idx"))
    assert file.manifest is not None
    names = [field.name for field in file.manifest.schema.fields]
    assert ["__vector_id", "__neighbors", "_distance"] == names
    said = json.loads(file.manifest.schema.metadata["lance:hnsw"])
    assert said["params"]["m"] == 4
    assert said["level_offsets"][:2] == [0, 20]


@pytest.mark.parametrize(
    "given", [pa.array([1.0]), pa.array([[[1.0]]], pa.list_(pa.list_(pa.float32(), 1)))]
)
def test_other_arrays_are_refused(given):
    """As pylance refuses them."""
    with pytest.raises(ValueError, match="FixedSizeList"):
        HNSW.build(iter([given]))


def test_no_arrays_are_refused():
    """There is nothing to build a graph of."""
    with pytest.raises(OSError, match="at least one array"):
        HNSW.build(iter([]))
