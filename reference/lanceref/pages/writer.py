"""Field writers of 2.1 to 2.3: how rows of a field become pages.

A field is shredded into its leaves; every leaf queues its rows by itself and writes a page when
what it has queued exceeds its cache.

Clauses: L.file.pages.priority
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lanceref.codecs.encoder_inputs import params_of
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.file.column_io import DataArea, EncodedColumn, EncodedPage, FieldWriter, PagePolicy
from lanceref.file.schema import Field
from lanceref.pages.blob import encode_blobs, store_blobs
from lanceref.pages.encode import SPARSE, Encoded, LeafPolicy, encode_rows, page_parts
from lanceref.pages.leafvalues import Path, Step, leaf_paths, scale_of
from lanceref.pages.shred import RavelledLevels, Shred, concat, shred
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding


def open_writer(
    field: Field, first_column: int, version: FileVersion, policy: PagePolicy
) -> FieldWriter:
    """Return the writer of a field whose first physical column is `first_column`.

    Raises NotStorable for a type that the version does not have, DataRefused for a structure.
    """
    _check_types(field, version)
    structural = params_of(field.metadata).structural_encoding
    if structural == SPARSE and version < V2_3:
        raise DataRefused(f"field {field.name!r}: {version} has no sparse pages")
    leaves = [
        (BlobQueue if _is_out_of_line(path[-1].field) else LeafQueue)(
            first_column + i,
            scale_of(path),
            LeafPolicy(
                version, params_of(path[-1].field.metadata), structural, dimensions_of(path)
            ),
            policy.cache_bytes,
        )
        for i, path in enumerate(leaf_paths(field))
    ]
    return ShreddingWriter(field, leaves)


def _check_types(field: Field, version: FileVersion) -> None:
    """Refuse values that no page has a form for. Raises NotStorable, and DataRefused for blobs."""
    for one in field.flat():
        problem = _problem(one, version)
        if problem is not None:
            raise NotStorable(f"field {one.name!r}: {problem}")
        if _is_out_of_line(one) and one.logical_type != "large_binary":
            raise DataRefused(f"field {one.name!r}: a blob is large_binary")


_OF_FIXED_SIZE = (
    pa.types.is_primitive,
    pa.types.is_decimal,
    pa.types.is_fixed_size_binary,
    pa.types.is_fixed_size_list,
    pa.types.is_null,
)
"""What fixed-size lists can be of."""

_NEVER_PACKED = ("dict:", "list", "large_list", "map")
_OF_MANY_SIZES = ("string", "large_", "binary", "json", "struct", "fixed_size_list:")
"""How logical types begin that packed structs have no form for, and those that 2.1 has none for."""


def _problem(field: Field, version: FileVersion) -> str | None:
    """Say why a version does not have the type of a field; None when it has."""
    type_, types = field.arrow.type, pa.types
    while types.is_fixed_size_list(type_) and not field.children:
        type_ = type_.value_type
        if not any(one(type_) for one in _OF_FIXED_SIZE):
            return f"fixed-size lists of {type_}"
    if types.is_fixed_size_binary(type_) and not type_.byte_width and version != V2_2:
        return "values without bytes need version 2.2"
    if version == V2_1 and field.logical_type == "map":
        return "the Map data type needs file version 2.2 or later"
    if version == V2_1 and field.logical_type.startswith("fixed_size_list:struct:"):
        return "lists of structs need version 2.2 or later"
    if field.is_packed:
        unlike = [one for one in field.flat() if one.logical_type.startswith(_NEVER_PACKED)]
        if unlike:
            return f"packed structs of {unlike[0].arrow.type}"
        parts = [one.logical_type for one in field.children]
        if version == V2_1 and any(part.startswith(_OF_MANY_SIZES) for part in parts):
            return "packed structs of values of many sizes need version 2.2 or later"
    if version == V2_3 and _is_out_of_line(field):
        return "2.3 has no blob columns of the first kind"
    return None


def _is_out_of_line(field: Field) -> bool:
    return field.is_blob and not field.is_descriptor


def dimensions_of(path: Path) -> tuple[int | None, ...]:
    """Return for each layer, the leaf too, the size of a fixed-size list, None for others."""
    return tuple(step.dimension if step.step is Step.FIXED_SIZE_LIST else None for step in path)


class LeafQueue:
    """Rows of one leaf that wait for their page."""

    def __init__(self, column: int, scale: int, policy: LeafPolicy, cache_bytes: int) -> None:
        self._column, self._scale, self._policy = column, scale, policy
        self._cache_bytes, self._queued_bytes = cache_bytes, 0
        self._parts: list[Shred] = []
        self._first_row = 0

    def write(self, rows: Shred, first_row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows; return the pages of all queued ones when they exceed the cache."""
        if not self._parts:
            self._first_row = first_row
        self._parts.append(rows)
        self._queued_bytes += rows.leaf.nbytes
        return self.flush() if self._queued_bytes > self._cache_bytes else []

    def flush(self) -> list[EncodedPage]:
        """Return the pages of all queued rows: one, but for the level budget."""
        if not self._parts:
            return []
        rows = concat(self._parts)
        self._parts, self._queued_bytes = [], 0
        pages = []
        for start, part, levels in page_parts(rows, self._policy):
            buffers, layout = self._encode(part, levels)
            slots, row = part.num_rows * self._scale, self._first_row + start
            pages.append(EncodedPage(self._column, buffers, layout, slots, row))
        return pages

    def _encode(self, rows: Shred, levels: RavelledLevels) -> Encoded:
        return encode_rows(rows, levels, self._policy)


class BlobQueue(LeafQueue):
    """Rows of a blob column: the values are written at once, their descriptors wait."""

    _codes: tuple[int, ...] = ()

    def write(self, rows: Shred, first_row: int, data: DataArea) -> list[EncodedPage]:
        """Write the values; return the pages of descriptors that became full.

        A page has one list of layers: rows with nulls in others begin a new one.
        """
        descriptors, codes = store_blobs(rows, data)
        pages = [] if codes == self._codes else self.flush()
        self._codes = codes
        return [*pages, *super().write(descriptors, first_row, data)]

    def _encode(self, rows: Shred, levels: RavelledLevels) -> Encoded:
        return encode_blobs(rows, levels, self._codes, self._policy)


class ShreddingWriter:
    """Writes the rows of a field as one column for each leaf."""

    def __init__(self, field: Field, leaves: Sequence[LeafQueue]) -> None:
        self._field, self._leaves = field, leaves
        self.num_columns = len(leaves)

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        shreds = shred(array, self._field)
        pairs = zip(self._leaves, shreds, strict=True)
        return [page for leaf, rows in pairs for page in leaf.write(rows, row, data)]

    def flush(self, data: DataArea) -> list[EncodedPage]:
        return [page for leaf in self._leaves for page in leaf.flush()]

    def finish(self) -> list[EncodedColumn]:
        """Return the encoding of each column, which says nothing."""
        encoding = ColumnEncoding()
        encoding.values.SetInParent()
        return [EncodedColumn(encoding) for _ in self._leaves]
