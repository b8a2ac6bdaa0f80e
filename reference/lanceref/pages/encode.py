"""Pages, encoded: which layout rows of a leaf are stored in.

What the oracle decides by default, in its order: constant pages, packed structs with variable
children, dictionaries, then mini-blocks for values below 256 bytes and full-zip for others. The
metadata key `lance-encoding:structural-encoding` overrides the last step. In 2.3 constant pages
with levels, and what is asked for, have a sparse structure.

The level budget: a chunk counts its levels in 16 bits, and every entry without a value goes into
the chunk of the values around it. A page with such entries is therefore cut, between rows, before
its levels could pass 65,535 or 16 KiB of packed bits. A single row above that is not stored in
mini-blocks at all.

Clauses: L.page.layout.present, L.page.miniblock.num-levels

Divergences: D.page.empty-struct-all-null
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message

from lanceref.codecs.buffers import MiniBlocks, Part, weave
from lanceref.codecs.choose import (
    Kind,
    choose_dictionary,
    encode_block,
    encode_levels,
    encode_mini,
    encode_zip,
    kind_of,
)
from lanceref.codecs.encoder_inputs import Params, dictionary_parts, max_value_bytes, stored_values
from lanceref.codecs.values import Bytes, Fixed, FixedSizeList, Ints, Rows, Values
from lanceref.codecs.variable import WORD_BYTES
from lanceref.core.arrow_buffers import whole
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.core.integers import arrow_array
from lanceref.file.column_io import Buffer
from lanceref.pages.chunks import CHUNK_UNIT, FILL, padded
from lanceref.pages.constant import MAX_INLINE_BYTES, all_null_page, the_value, value_page
from lanceref.pages.fullzip import fullzip_page
from lanceref.pages.planar import dense_layout, sparse_layout, value_plane
from lanceref.pages.repindex import repetition_index
from lanceref.pages.shred import LevelArray, RavelledLevels, Shred, flat_levels, ravel
from lanceref.pages.sparse import encode_structure
from lanceref.proto import encodings_v2_1_pb2
from lanceref.proto.encodings_v2_3_pb2 import ValuePlane

MAX_LEVELS = 2**16 - 1
"""Levels that the header of a chunk can count."""

MAX_LEVEL_BITS = 8 * 16 * 1024
"""Bits that the repetition and definition levels of a page may take."""

NARROW_BYTES = 256
"""Values below this many bytes go into mini-blocks."""

MINIBLOCK, FULLZIP, SPARSE = "miniblock", "fullzip", "sparse"

Encoded = tuple[list[Buffer], Message]
"""The buffers of a page, and its description."""

DensePage = tuple[list[Buffer], encodings_v2_1_pb2.PageLayout]
"""The same of a page whose structure is levels."""


@dataclass(frozen=True, slots=True)
class LeafPolicy:
    """How the pages of one leaf are encoded.

    `params` are the knobs of the leaf's field, `structural` the layout that the root field asks
    for, if it does; `dimensions` has one entry per layer of the leaf: that of a fixed-size list,
    None for others.
    """

    version: FileVersion
    params: Params
    structural: str | None
    dimensions: tuple[int | None, ...]


def encode_rows(rows: Shred, levels: RavelledLevels, policy: LeafPolicy) -> Encoded:
    """Return the buffers of a page with these rows, and its description.

    Raises DataRefused for rows that the version has no page for.
    """
    return (encode_dense if policy.version < V2_3 else encode_planar)(rows, levels, policy)


def page_parts(rows: Shred, policy: LeafPolicy) -> Iterator[tuple[int, Shred, RavelledLevels]]:
    """Yield the first row of each page, its rows and their levels; the level budget cuts.

    The layers of each page allow for what is null and empty in all of the rows.
    """
    levels = ravel(rows)
    cuts = None
    if policy.version < V2_3 and len(rows.leaf) and has_lists(rows):
        cuts = row_cuts(levels, rows.num_rows)
    if cuts is None or len(cuts) == 1:
        yield 0, rows, levels
        return
    rows_at = [*cuts.tolist(), rows.num_rows]
    entries = [*levels.row_starts(rows.num_rows)[cuts].tolist(), levels.num_entries]
    for (start, end), (first, last) in zip(pairwise(rows_at), pairwise(entries), strict=True):
        yield start, rows.slice(start, end), levels.slice(first, last)


def row_cuts(levels: RavelledLevels, num_rows: int) -> Ints | None:
    """Return the rows where pages begin, the first is 0; None when a single row is too long.

    The result is (pages,).
    """
    visible, bits = levels.visible, levels.max_rep.bit_length() + levels.max_def.bit_length()
    limit = min(MAX_LEVELS, MAX_LEVEL_BITS // max(1, bits))
    whole = np.zeros(1, np.int64)
    if visible is None or levels.num_entries <= limit or visible.all() or levels.rep is None:
        return whole
    starts = levels.row_starts(num_rows)
    ends = np.append(starts[1:], levels.num_entries)
    hidden = np.flatnonzero(~visible)
    cuts = [0]
    while True:
        first = starts[cuts[-1]]
        row = int(np.searchsorted(ends, first + limit, side="right"))
        at = np.searchsorted(hidden, first)
        if row >= num_rows or at == len(hidden):
            return np.array(cuts)
        row = max(row, int(np.searchsorted(ends, hidden[at], side="right")))
        if row == cuts[-1]:
            return None
        cuts.append(row)


def encode_dense(rows: Shred, levels: RavelledLevels, policy: LeafPolicy) -> DensePage:
    """Return a page whose structure is levels. Raises DataRefused."""
    if is_all_null(rows):
        return all_null_page(levels, policy.version)
    values, items = leaf_values(rows.leaf)
    if _has_no_bytes(values):  # rows that are all `{}`, described as if they were null
        if levels.rep is not None or levels.definition is not None:
            kinds = "empty structs in lists, and null ones"
            raise DataRefused(f"{kinds}, cannot be stored in {policy.version}")
        return all_null_page(levels, policy.version)
    kind = kind_of(rows.leaf.type)
    if policy.version == V2_2 and items is None:
        value = the_value(values, rows.validity)
        if value is not None:
            return value_page(levels, value, kind.wide)
    return _values(levels, values, items, policy, kind)


def encode_planar(rows: Shred, levels: RavelledLevels, policy: LeafPolicy) -> Encoded:
    """Return rows encoded as a page of 2.3, the planar layout."""
    values, items = leaf_values(rows.leaf)
    nothing, value = is_all_null(rows) or _has_no_bytes(values), None
    if not nothing and items is None and isinstance(values, Fixed):
        value = the_value(values, rows.validity)
    is_flat = levels.rep is None and levels.definition is None
    if isinstance(value, bytes) and len(value) <= MAX_INLINE_BYTES and is_flat:
        layout = encodings_v2_1_pb2.ConstantLayout(layers=levels.codes, inline_value=value)  # type: ignore[arg-type]
        return [], dense_layout(encodings_v2_1_pb2.PageLayout(constant_layout=layout))
    plane = ValuePlane()
    if nothing:
        plane.none.SetInParent()
    elif isinstance(value, bytes) and len(value) <= MAX_INLINE_BYTES:
        plane.constant.scalar = value
    elif is_flat or not _is_sparse(levels, values, policy):
        buffers, dense = _values(levels, values, items, policy, kind_of(rows.leaf.type))
        return buffers, dense_layout(dense)
    else:
        return _sparse(rows, values, items, policy)
    structure = encode_structure(rows, policy.dimensions)
    return structure.buffers, sparse_layout(structure.layers, plane)


def has_lists(rows: Shred) -> bool:
    """Whether any list lies between the field and its leaf."""
    return any(layer.offsets is not None for layer in rows.layers)


def is_all_null(rows: Shred) -> bool:
    """Whether no value of the leaf is valid, or there is none."""
    return not len(rows.leaf) or (rows.validity is not None and not rows.validity.any())


def leaf_values(leaf: pa.Array) -> tuple[Values, Values | None]:
    """Return the values of a leaf; of a dictionary array its keys and its items."""
    if pa.types.is_dictionary(leaf.type):
        return dictionary_parts(leaf)
    return stored_values(leaf), None


def _has_no_bytes(values: Values) -> bool:
    return isinstance(values, Rows) and not values.fields


def _is_ragged(values: Values) -> bool:
    """Whether values are packed structs with a variable child."""
    return isinstance(values, Rows) and not all(isinstance(one, Fixed) for one in values.fields)


def _is_sparse(levels: RavelledLevels, values: Values, policy: LeafPolicy) -> bool:
    mixed = levels.max_rep > 0 and any(size is not None for size in policy.dimensions)
    needed = mixed or policy.structural == SPARSE or not _fits_chunks(levels)
    return needed and not _is_ragged(values)


def _fits_chunks(levels: RavelledLevels) -> bool:
    """Whether a page keeps the level budget as it is."""
    cuts = row_cuts(levels, levels.num_rows)
    return cuts is not None and len(cuts) == 1


def _sparse(rows: Shred, values: Values, items: Values | None, policy: LeafPolicy) -> Encoded:
    structure = encode_structure(rows, policy.dimensions)
    slots = flat_levels(len(rows.leaf))
    free = replace(policy, structural=None if policy.structural == SPARSE else policy.structural)
    kind = kind_of(rows.leaf.type)
    buffers, layout = _values(slots, values, items, free, kind)
    if layout.HasField("mini_block_layout"):
        plane = value_plane(layout.mini_block_layout, dense=False)
    else:
        valid = rows.leaf
        if rows.validity is not None:
            valid = whole(rows.leaf).take(arrow_array(np.flatnonzero(rows.validity)))
        buffers, layout = _zipped(flat_levels(len(valid)), stored_values(valid), free, kind)
        plane = value_plane(layout.full_zip_layout, dense=False)
    return [*buffers, *structure.buffers], sparse_layout(structure.layers, plane)


def _values(
    levels: RavelledLevels, values: Values, items: Values | None, policy: LeafPolicy, kind: Kind
) -> DensePage:
    """Choose between mini-blocks, with or without a dictionary, and full-zip."""
    if items is not None:
        return _mini(levels, values, items, policy, kind)
    if _is_ragged(values) or not _fits_chunks(levels):
        return _zipped(levels, values, policy, kind)
    chosen = choose_dictionary(values, policy.params, policy.version, kind)
    if chosen is not None:
        indices, items = chosen
        stored = Fixed(32, len(indices), indices.astype("<u4").view(np.uint8))
        return _mini(levels, stored, items, policy, kind)
    structural = policy.structural
    if structural is None or (structural == SPARSE and policy.version == V2_3):
        narrow = max_value_bytes(values) < NARROW_BYTES and not without_items(values)
        structural = MINIBLOCK if narrow else FULLZIP
    if structural == MINIBLOCK:
        return _mini(levels, values, None, policy, kind)
    if structural == FULLZIP:
        return _zipped(levels, values, policy, kind)
    raise DataRefused(f"{structural!r} is no structural encoding of {policy.version}")


def without_items(values: Values) -> bool:
    """Whether fixed-size lists hold nothing but null items."""
    levels = values.levels() if isinstance(values, FixedSizeList) else ()
    return any(validity is not None and not validity.any() for _, validity in levels)


def _mini(
    levels: RavelledLevels, values: Values, items: Values | None, policy: LeafPolicy, kind: Kind
) -> DensePage:
    blocks = encode_mini(values, policy.params, policy.version, kind)
    dictionary = None
    if items is not None:
        dictionary = (*encode_block(items, policy.params, policy.version, kind), items.count)
    buffers, layout = miniblock_page(levels, blocks, dictionary, policy.version)
    return buffers, encodings_v2_1_pb2.PageLayout(mini_block_layout=layout)


def _zipped(levels: RavelledLevels, values: Values, policy: LeafPolicy, kind: Kind) -> DensePage:
    if isinstance(values, Fixed) and values.bits == 1:
        flags = np.unpackbits(values.data, count=values.count, bitorder="little")
        values = Fixed(8, values.count, flags)
    encoding, zipped = encode_zip(values, policy.params, policy.version, kind)
    buffers, layout = fullzip_page(levels, encoding, zipped, wide=kind.wide)
    return buffers, encodings_v2_1_pb2.PageLayout(full_zip_layout=layout)


Coded = tuple[encodings_v2_1_pb2.CompressiveEncoding, Bytes, Ints]
"""A description, the bytes of all chunks joined, and the size in each chunk."""

LevelEncoder = Callable[[LevelArray, Ints, FileVersion], Coded]
"""Encodes the levels of a page, with the number of them in each chunk."""

StoredDictionary = tuple[encodings_v2_1_pb2.CompressiveEncoding, Buffer, int]
"""The items of a page's dictionary: description, bytes, and how many they are."""


def miniblock_page(
    levels: RavelledLevels,
    values: MiniBlocks,
    dictionary: StoredDictionary | None,
    version: FileVersion,
    encode: LevelEncoder = encode_levels,
    fill: int = FILL,
) -> tuple[list[Buffer], encodings_v2_1_pb2.MiniBlockLayout]:
    """Return the buffers of a page, and its description.

    `encode` chooses the codec of levels; `fill` pads the parts of chunks.
    """
    layout = encodings_v2_1_pb2.MiniBlockLayout(
        value_compression=values.encoding,
        layers=levels.codes,  # type: ignore[arg-type]
        num_buffers=len(values.buffers),
        num_items=int(values.counts.sum()),
        has_large_chunk=version > V2_1,
    )
    ends = chunk_ends(levels, values.counts)
    num_levels, parts = np.diff(ends, prepend=0), list[Part]()
    for stored, target in (
        (levels.rep, layout.rep_compression),
        (levels.definition, layout.def_compression),
    ):
        if stored is not None:
            encoding, data, sizes = encode(stored, num_levels, version)
            target.CopyFrom(encoding)
            parts.append((data, sizes))
    counted = num_levels if parts else np.zeros_like(num_levels)
    wide = "<u2" if version == V2_1 else "<u4"
    buffers: list[Buffer] = [*frame_chunks(counted, parts, values, wide, fill)]
    if dictionary is not None:
        described, items, layout.num_dictionary_items = dictionary
        layout.dictionary.CopyFrom(described)
        buffers.append(items)
    if levels.rep is not None:
        layout.repetition_index_depth = 1
        index = repetition_index(levels.rep, levels.max_rep, ends)
        buffers.append(index.reshape(-1).view(np.uint8))
    return buffers, layout


def chunk_ends(levels: RavelledLevels, counts: Ints) -> Ints:
    """Return where the entries of each chunk end: placeholders after its values belong to it.

    `counts` and the result (chunks,).
    """
    ends, visible = np.cumsum(counts), levels.visible
    if visible is not None:
        ends = np.flatnonzero(visible)[ends - 1] + 1
        ends[-1] = levels.num_entries
    return ends


def frame_chunks(
    num_levels: Ints, levels: Sequence[Part], values: MiniBlocks, wide: str, fill: int
) -> tuple[Bytes, Bytes]:
    """Return the chunk words and the chunks; `wide` is the type of words and value sizes.

    `num_levels` (chunks,); both results uint8 (bytes,). Raises DataRefused for chunks that are too
    large for a word, as levels or a `minichunk-size` can make them.
    """
    columns = [num_levels.astype("<u2"), *(sizes.astype("<u2") for _, sizes in levels)]
    columns += [sizes.astype(wide) for _, sizes in values.buffers]
    cells = [column.view(np.uint8).reshape(len(num_levels), -1) for column in columns]
    header = np.concatenate(cells, axis=1)
    pieces, own = list[Part](), np.full(len(header), header.shape[1])
    for data, part_sizes in [(header.reshape(-1), own), *levels, *values.buffers]:
        gaps = padded(part_sizes) - part_sizes
        pieces += [(data, part_sizes), (np.full(int(gaps.sum()), fill, np.uint8), gaps)]
    out, sizes = weave(pieces)
    if wide == "<u2" and int(sizes.max(initial=0)) > WORD_BYTES:
        raise DataRefused(f"a chunk of {sizes.max()} bytes, where 2.1 has {WORD_BYTES} at most")
    logs = np.log2(np.maximum(values.counts, 1)).astype(np.int64)
    if not values.last_says_count:
        logs[-1:] = 0
    words = (((sizes // CHUNK_UNIT) - 1) << 4 | logs).astype(wide)
    return words.view(np.uint8), out
