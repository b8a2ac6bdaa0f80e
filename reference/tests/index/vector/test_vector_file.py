"""Vector index files."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.core.file_versions import FileVersion
from lanceref.index import index_file
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.vector import building
from lanceref.index.vector.building import EncodedRows
from lanceref.index.vector.flat_storage import Flat
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_file import (
    AUXILIARY,
    HEAD,
    TYPES,
    ivf_message,
    partitions_of,
    read_auxiliary,
    read_head,
)
from lanceref.index.vector.vectors import Keyed
from lanceref.proto import table_pb2
from lanceref.storage import open_store

MODEL = Model("l2", np.array([[0, 0], [9, 9], [5, 5]], np.float32))
VECTORS = np.array([[8, 8], [1, 0], [0, 1], [9, 8]], np.float32)
KEYS = np.array([3, 5, 6, 9], np.uint64)


class OneStore:
    """Bases of a table whose files all lie together."""

    def __init__(self, store):
        self._store = store

    def store_of(self, base):
        """Return the store."""
        return self._store


def segment_of(writer) -> Segment:
    """Return what has been written as a segment."""
    entry = table_pb2.IndexMetadata(name="x", files=writer.files)
    entry.uuid.uuid = writer.uuid.bytes
    return Segment(entry, OneStore(writer.store), Context("m"), Context("m").at(0, 0), False)


def written(tmp_path, edit=None, monkeypatch=None) -> Segment:
    """Write four vectors in two of three partitions; `edit` changes metadata and buffers."""
    writer = SegmentWriter(open_store(tmp_path), FileVersion(2, 1))
    if edit is not None:
        true = index_file.write_index_file

        def changed(store, path, schema, version, batches, metadata, buffers):
            metadata, buffers = dict(metadata), list(buffers)
            edit(path.rpartition("/")[2], metadata, buffers)
            return true(store, path, schema, version, batches, metadata, buffers)

        monkeypatch.setattr("lanceref.index.segment.write_index_file", changed)
    rows = EncodedRows(Flat(MODEL))
    rows.add_vectors(Keyed(VECTORS, KEYS))
    building.write(rows, TYPES["IVF_FLAT"], rows.loss, writer)
    return segment_of(writer)


def test_what_is_written_is_read(tmp_path):
    """The head has the centroids, the other file the rows by partition."""
    segment = written(tmp_path)
    head = read_head(segment)
    assert ("IVF_FLAT", "l2") == (head.type.name, head.model.metric)
    assert MODEL.centroids.tolist() == head.model.centroids.tolist()
    assert 2 + 1 + 1 + 1 == head.message.loss
    held = read_auxiliary(segment, head)
    assert [2, 2, 0] == held.partitions.lengths.tolist()
    assert [5, 6, 3, 9] == segment.file(AUXILIARY).read("_rowid").to_pylist()
    assert [[1, 0], [0, 1], [8, 8], [9, 8]] == segment.file(AUXILIARY).read("flat").to_pylist()


def test_metadata(tmp_path):
    """As other writers have it."""
    segment = written(tmp_path)
    assert {
        "lance:index": '{"type":"IVF_FLAT","distance_type":"l2"}',
        "lance:ivf": "1",
        "lance:flat": '["","",""]',
    } == dict(segment.file(HEAD).metadata)
    assert {
        "distance_type": "l2",
        "lance:ivf": "1",
        "storage_metadata": '["{\\"dim\\":2}"]',
    } == dict(segment.file(AUXILIARY).metadata)
    assert ["__flat_marker"] == segment.file(HEAD).names
    assert [AUXILIARY, HEAD] == [file.path for file in segment.entry.files]


FAULTS = [
    (HEAD, "lance:index", "{", "L.index.vector.metadata"),
    (HEAD, "lance:index", '{"type":"IVF_FOO","distance_type":"l2"}', "L.index.vector.head.type"),
    (HEAD, "lance:index", '{"type":"IVF_FLAT","distance_type":"x"}', "L.index.vector.head.metric"),
    (HEAD, "lance:flat", '["",""]', "L.index.vector.head.texts"),
    (HEAD, "lance:flat", '""', "L.index.vector.metadata"),
    (HEAD, "lance:ivf", "2", "L.index.files.buffer"),
    (HEAD, "lance:ivf", "x", "L.index.files.metadata"),
    (AUXILIARY, "distance_type", "dot", "L.index.vector.auxiliary.metric"),
    (AUXILIARY, "distance_type", "", "L.index.vector.auxiliary.metric"),
    (AUXILIARY, "storage_metadata", "[]", "L.index.vector.auxiliary.storage"),
    (AUXILIARY, "storage_metadata", '["[]"]', "L.index.vector.metadata"),
    (AUXILIARY, "storage_metadata", '["{}"]', "L.index.vector.flat.dimension"),
]


@pytest.mark.parametrize(("file", "key", "text", "clause"), FAULTS)
def test_wrong_metadata(tmp_path, monkeypatch, file, key, text, clause):
    """Each fault breaks its clause; without the entry there is an error too."""

    def edit(path, metadata, buffers):
        if path == file:
            metadata[key] = text

    segment = written(tmp_path, edit, monkeypatch)
    with pytest.raises(LanceError) as caught:
        read_auxiliary(segment, read_head(segment))
    assert clause == caught.value.clause


@pytest.mark.parametrize(
    ("file", "key"), sorted({(file, key) for file, key, *_ in FAULTS} | {(AUXILIARY, "lance:ivf")})
)
def test_missing_metadata(tmp_path, monkeypatch, file, key):
    """Every entry is needed."""

    def edit(path, metadata, buffers):
        if path == file:
            del metadata[key]

    segment = written(tmp_path, edit, monkeypatch)
    with pytest.raises(FormatError, match=r"L\.index\.files\.metadata"):
        read_auxiliary(segment, read_head(segment))


def test_partitions_of_another_number(tmp_path, monkeypatch):
    """There is one for each centroid."""

    def edit(path, metadata, buffers):
        if path == AUXILIARY:
            buffers[0] = ivf_message(partitions_of([4])).SerializeToString()

    segment = written(tmp_path, edit, monkeypatch)
    with pytest.raises(FormatError, match=r"L\.index\.vector\.auxiliary\.partitions"):
        read_auxiliary(segment, read_head(segment))
