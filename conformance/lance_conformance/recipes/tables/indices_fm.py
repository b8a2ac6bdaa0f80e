"""Cases of FM indices: parts of texts, however short, and partitions that are damaged."""

from __future__ import annotations

from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import descriptor, index
from lance_conformance.recipes.model import MessageEdit
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, values
from lance_conformance.recipes.tables.indices import TEXTS, search
from lance_conformance.recipes.tables.indices_segments import LAST

FM = Indexed(TEXTS, "FM", {}, "2.0")

_FILE = "part_0_fm.lance"
_ROWS = 9
"""Rows that are indexed and not null."""

_CLAUSES = tuple(
    f"L.index.fm.{name}"
    for name in ("partition", "counts", "topology", "codes", "numbers", "node", "rank", "samples",
                 "texts", "fingerprint")
)  # fmt: skip

POSITIVES = (
    search("plain", "a text in the middle of others; one of its rows is deleted",
           "contains(c, 'an')", [5, 6, 9], FM, _CLAUSES),
    search("letter", "one letter, also in a row that was appended", "contains(c, 'b')",
           [5, 6, 11], FM),
    search("bytes", "a letter of two bytes", "contains(c, 'Äp')", [3], FM),
    search("row-ids", "addresses where rows have stable ids", "contains(c, 'pl')", [0, 1, 10],
           Indexed(TEXTS, "FM", {}, "2.2", stable_row_ids=True)),
    search("own-plain", "a text in an index of the reference", "contains(c, 'ana')", [5, 6],
           FM, by="reference"),
)  # fmt: skip


def _no_partition(entry: IndexMetadata) -> None:
    del entry.files[:]


def _begins(key: str, digits: str) -> MessageEdit:
    """Put other digits at the beginning of an entry of the metadata."""

    def edit(message: FileDescriptor) -> None:
        held = message.schema.metadata[key]
        message.schema.metadata[key] = digits.encode() + held[len(digits) :]

    return descriptor(edit, f"_indices/*/{_FILE}")


NEGATIVES = (
    fault("fm/plain", "partition", "an index of no partition", "L.index.fm.partition",
          index(_no_partition, LAST)),
    fault("fm/plain", "counts", "a table of counts that does not reach the size",
          "L.index.fm.counts", metadata(_FILE, "c_table", "00" * 8 * 257)),
    fault("fm/plain", "topology", "a tree of more nodes than are there", "L.index.fm.topology",
          _begins("tree_topology", "ff")),
    fault("fm/plain", "codes", "a code that is not the path of its byte", "L.index.fm.codes",
          _begins("huffman_codes", "ff")),
    fault("fm/plain", "numbers", "more nodes than the tree has", "L.index.fm.numbers",
          metadata(_FILE, "num_bwt_nodes", "99")),
    fault("fm/plain", "node", "a row of another node", "L.index.fm.node",
          values(_FILE, "node_id", b"\7")),
    fault("fm/plain", "rank", "ones before the first block", "L.index.fm.rank",
          values(_FILE, "prefix_rank", b"\1")),
    fault("fm/plain", "texts", "texts that all begin at once", "L.index.fm.texts",
          metadata(_FILE, "doc_start_positions", "00" * 8 * _ROWS)),
    lint("fm/plain", "fingerprint", "the fingerprint of other texts", "L.index.fm.fingerprint",
         metadata(_FILE, "partition_fingerprint", "0" * 16)),
)  # fmt: skip
