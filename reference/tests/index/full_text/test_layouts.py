"""Layouts of a segment."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import FormatError
from lanceref.index.full_text.inverted import first_number, is_staged, layout_of, staged
from pylanceref.transactions import index_message

from ..tables import write
from .test_partition import opened


def staged_segment(root, texts):
    """A segment over two fragments, one staged by each of two builders."""
    dataset = write(pa.table({"s": texts}), root, max_rows_per_file=2)
    parts = [
        dataset.create_index_uncommitted("s", "INVERTED", fragment_ids=[one]) for one in range(2)
    ]
    return dataset, parts


def test_staged_files_have_names_of_their_own():
    """Of a partition, or of none."""
    paths = ["staging/part_7_metadata.lance", "staging/part_empty_0_metadata.lance"]
    assert paths == staged([*paths, "metadata.lance", "staging/part_7_docs.lance"])
    assert not is_staged(["metadata.lance", "part_0_metadata.lance"])
    assert 3 << 32 == first_number(3)


def test_a_staged_segment_is_read(tmp_path):
    """Its partition has the number of the first fragment."""
    dataset, parts = staged_segment(tmp_path, ["a1", "b1", "c1", "d1"])
    assert "staging/part_4294967296_docs.lance" in {file.path for file in parts[1].files}
    (segment,) = dataset._snapshot.indices.of([index_message(parts[1])]).segments
    (partition,) = layout_of(segment).partitions
    assert [("c1", 0), ("d1", 1)] == list(partition.items())


def test_a_segment_without_documents_is_staged(tmp_path):
    """It says that there is no partition."""
    dataset, parts = staged_segment(tmp_path, ["a1", "b1", "", None])
    assert ["staging/part_empty_4294967296_metadata.lance"] == [one.path for one in parts[1].files]
    (segment,) = dataset._snapshot.indices.of([index_message(parts[1])]).segments
    assert () == layout_of(segment).partitions


def test_partitions_of_other_parameters_are_refused(tmp_path):
    """Those who build a segment together agree."""
    dataset = write(pa.table({"s": ["a1", "b1"]}), tmp_path, max_rows_per_file=1)
    name = "12345678-1234-1234-1234-123456789abc"
    for fragment, stem in ((0, True), (1, False)):
        dataset.create_scalar_index(
            "s", "INVERTED", name="x", fragment_ids=[fragment], index_uuid=name, stem=stem
        )
    with pytest.raises(FormatError, match=r"L\.index\.fts\.staging"):
        dataset.merge_index_metadata(name, "INVERTED")


def test_a_segment_without_any_layout_is_refused(tmp_path):
    """What is missing is named."""
    segment, _ = opened(tmp_path)
    store = segment.bases.store_of(None)
    store.delete(f"{segment.folder}/metadata.lance")
    segment._opened.clear()
    with pytest.raises(FormatError, match=r"metadata\.lance.*L\.index\.segment\.files"):
        layout_of(segment)
