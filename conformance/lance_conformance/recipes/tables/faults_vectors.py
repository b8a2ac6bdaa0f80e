"""Negative cases of vector indices: what their files say, partitions, tensors and graphs.

What the storages of vectors say of themselves is in another table.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_pb2 import IVF, Tensor
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.messages import descriptor, index, partitions
from lance_conformance.recipes.model import MessageEdit, Negative, Remove, SpanPatch
from lance_conformance.recipes.tables.faults_indices import (
    fault,
    lint,
    metadata,
    nulls,
    renamed,
    values,
)
from lance_conformance.recipes.tables.indices_vectors_plain import LAST

HEAD, AUXILIARY = "index.idx", "auxiliary.idx"

FLAT, GRAPH = "ivf-flat/plain", "ivf-hnsw-flat/plain"


def text(file: str, key: str, change: Callable[[str], str]) -> MessageEdit:
    """Change a text of the metadata of a file."""

    def edit(message: FileDescriptor) -> None:
        held = message.schema.metadata
        held[key] = change(held[key].decode()).encode()

    return descriptor(edit, f"_indices/*/{file}")


def head(**changed: object) -> MessageEdit:
    """Change what the head says of the index."""
    return text(HEAD, "lance:index", lambda old: json.dumps({**json.loads(old), **changed}))


def texts(change: Callable[[list[str]], list[str]], key: str = "lance:flat") -> MessageEdit:
    """Change the list of texts of the head."""
    return text(HEAD, key, lambda old: json.dumps(change(json.loads(old))))


def graph(**changed: object) -> MessageEdit:
    """Change what is said of the first graph."""

    def change(held: list[str]) -> list[str]:
        return [json.dumps({**json.loads(held[0]), **changed}), *held[1:]]

    return texts(change, "lance:hnsw")


def levels(change: Callable[[list[int]], list[int]]) -> MessageEdit:
    """Change where the levels of the first graph begin."""

    def changed(held: list[str]) -> list[str]:
        said = json.loads(held[0])
        return [json.dumps({**said, "level_offsets": change(said["level_offsets"])}), *held[1:]]

    return texts(changed, "lance:hnsw")


def centroids(edit: Callable[[Tensor], None]) -> MessageEdit:
    """Change the centroids."""
    return partitions(lambda message: edit(message.centroids_tensor), f"_indices/*/{HEAD}")


def rows(edit: Callable[[IVF], None], file: str = AUXILIARY) -> MessageEdit:
    """Change which rows partitions have."""
    return partitions(edit, f"_indices/*/{file}")


def _garbled(entry: IndexMetadata) -> None:
    entry.index_details.value = b"\xff"


def _wider(tensor: Tensor) -> None:
    tensor.data_type = Tensor.FLOAT64
    tensor.data = tensor.data * 2


def _cube(tensor: Tensor) -> None:
    tensor.shape[:] = [2, 2, 4]


def _unknown(tensor: Tensor) -> None:
    tensor.data_type = Tensor.BFLOAT16


def _short(tensor: Tensor) -> None:
    tensor.data = tensor.data[:-4]


def _fewer(message: IVF) -> None:
    del message.lengths[1:], message.offsets[1:]


def _one_more(message: IVF) -> None:
    message.lengths[0] += 1


def _one_less(message: IVF) -> None:
    message.lengths[-1] -= 1


def _overlapping(message: IVF) -> None:
    message.offsets[1] -= 1


def _no_offset(message: IVF) -> None:
    del message.offsets[1:]


def _no_centroids(message: IVF) -> None:
    message.ClearField("centroids_tensor")


_FILES = (
    fault(FLAT, "gone", "the file of the vectors is missing", "L.index.segment.files",
          Remove(f"_indices/*/{AUXILIARY}")),
    fault(FLAT, "json", "what is said of the index is no JSON", "L.index.vector.metadata",
          metadata(HEAD, "lance:index", "{")),
    fault(FLAT, "texts-empty", "an empty text in place of a list", "L.index.vector.metadata",
          metadata(HEAD, "lance:flat", "")),
    fault(FLAT, "objects", "an object in place of a text", "L.index.vector.metadata",
          text(AUXILIARY, "storage_metadata", lambda old: f"[{json.loads(old)[0]}]")),
    fault(FLAT, "unsaid", "nothing says what the index is", "L.index.files.metadata",
          metadata(HEAD, "lance:index", None)),
    fault(FLAT, "partitions-unsaid", "nothing says where the partitions are",
          "L.index.files.metadata", metadata(AUXILIARY, "lance:ivf", None)),
    fault(FLAT, "descriptor", "the descriptor in place of the partitions", "L.index.files.buffer",
          metadata(HEAD, "lance:ivf", "0")),
    fault(FLAT, "column", "the vectors have another name", "L.index.files.column",
          renamed(AUXILIARY, "flat")),
    fault(FLAT, "type", "a type that none has", "L.index.vector.head.type", head(type="IVF_HNSW")),
    fault(FLAT, "metric", "a metric that none has", "L.index.vector.head.metric",
          head(distance_type="l3")),
    fault(FLAT, "texts", "a text for one of two partitions", "L.index.vector.head.texts",
          texts(lambda held: held[:1])),
    fault(FLAT, "other-metric", "the vectors are those of another metric",
          "L.index.vector.auxiliary.metric", metadata(AUXILIARY, "distance_type", "dot")),
    fault(FLAT, "partitions", "rows of one of two partitions",
          "L.index.vector.auxiliary.partitions", rows(_fewer)),
    fault(FLAT, "storages", "two storages", "L.index.vector.auxiliary.storage",
          text(AUXILIARY, "storage_metadata", lambda old: json.dumps(json.loads(old) * 2))),
    fault(FLAT, "storage-unsaid", "no storage", "L.index.vector.auxiliary.storage",
          metadata(AUXILIARY, "storage_metadata", "[]")),
    fault("ivf-sq/plain", "element", "centroids of another type", "L.index.vector.column-type",
          centroids(_wider)),
    fault(FLAT, "null", "row ids that are null", "L.index.vector.columns.null",
          nulls(AUXILIARY, 0)),
    fault(FLAT, "row-id", "a row that the fragment does not have", "L.index.vector.row-id",
          values(AUXILIARY, "_rowid", b"\xff")),
    lint(FLAT, "details", "details that do not parse", "L.index.vector.details",
         index(_garbled, LAST)),
    fault(FLAT, "dimension", "vectors of another length", "L.index.vector.flat.dimension",
          metadata(AUXILIARY, "storage_metadata", r'["{\"dim\":4}"]')),
    lint(FLAT, "values", "a vector of no row", "L.index.vector.flat.values",
         values(AUXILIARY, "flat", b"\0\0\0\0", 4)),
    lint(FLAT, "not-finite", "a vector with NaN", "L.index.vector.rows.left-out",
         values(AUXILIARY, "flat", b"\0\0\xc0\x7f", 8)),
    lint(FLAT, "assignment", "a vector that is nearer to the other centroid",
         "L.index.vector.assignment", SpanPatch(("field flat", "values"), lambda old:
         old[-32:] + old[32:], target=f"_indices/*/{AUXILIARY}")),
)  # fmt: skip

_PARTITIONS = (
    fault(FLAT, "tensor-shape", "centroids of three sizes", "L.index.vector.tensor.shape",
          centroids(_cube)),
    fault(FLAT, "tensor-type", "centroids of a type that none has", "L.index.vector.tensor.type",
          centroids(_unknown)),
    fault(FLAT, "tensor-size", "centroids that end early", "L.index.vector.tensor.size",
          centroids(_short)),
    fault(FLAT, "centroids", "partitions without centroids", "L.index.vector.ivf.centroids",
          rows(_no_centroids, HEAD)),
    fault(FLAT, "offsets", "one offset, two lengths", "L.index.vector.ivf.lengths",
          rows(_no_offset)),
    fault(FLAT, "more-rows", "partitions of more rows than there are", "L.index.vector.ivf.rows",
          rows(_one_more)),
    fault(FLAT, "fewer-rows", "a row in no partition", "L.index.vector.ivf.rows",
          rows(_one_less)),
    fault(FLAT, "overlap", "partitions that overlap", "L.index.vector.ivf.rows",
          rows(_overlapping)),
)  # fmt: skip

_GRAPHS = (
    fault(GRAPH, "levels-unsaid", "nothing says where levels begin", "L.index.vector.graph.text",
          graph(level_offsets=None)),
    fault(GRAPH, "no-graph", "a partition without its graph", "L.index.vector.graph.rows",
          texts(lambda held: ["", *held[1:]], "lance:hnsw")),
    fault(GRAPH, "levels-fall", "levels that fall", "L.index.vector.graph.levels",
          levels(lambda old: [*old[:2], old[1] - 1, *old[3:]])),
    fault(GRAPH, "levels-past", "levels that end after the graph", "L.index.vector.graph.levels",
          levels(lambda old: [*old[:-1], old[-1] + 1])),
    fault(GRAPH, "levels-one", "one number, and no level", "L.index.vector.graph.levels",
          levels(lambda old: old[:1])),
    fault(GRAPH, "levels-lost", "rows of the graph on no level", "L.index.vector.graph.levels",
          levels(lambda old: [min(one, old[-1] - 1) for one in old])),
    fault(GRAPH, "entry", "searches begin at no node", "L.index.vector.graph.entry",
          graph(entry_point=255)),
    fault(GRAPH, "nodes", "a node that occurs twice", "L.index.vector.graph.nodes",
          values(HEAD, "__vector_id", b"\0", 4)),
    fault(GRAPH, "neighbour", "a neighbour that is no node", "L.index.vector.graph.neighbours",
          SpanPatch(("field __neighbors", "items", "values"), b"\xff",
                    target=f"_indices/*/{HEAD}")),
    lint(GRAPH, "distances", "a distance less than there are neighbours",
         "L.index.vector.graph.distances", SpanPatch(("field _distance", "list ends"), lambda old:
         (old[0] - 1).to_bytes(1, "little") + old[1:], target=f"_indices/*/{HEAD}")),
    fault(GRAPH, "null", "nodes that are null", "L.index.vector.graph.null", nulls(HEAD, 0)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_FILES, *_PARTITIONS, *_GRAPHS)
