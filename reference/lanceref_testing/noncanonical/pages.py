"""Pages: legal pages of 2.1 to 2.3 that no writer makes.

Rows are cut into pages at random, layers are more general than necessary, any layout has any
values, and the codecs are those of `noncanonical.codecs`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.codecs.choose import Kind, choose_dictionary, encode_block, encode_zip, kind_of
from lanceref.codecs.encoder_inputs import Params, max_value_bytes
from lanceref.codecs.values import Fixed, Rows, Values, Variable
from lanceref.core.file_versions import V2_2, V2_3, FileVersion
from lanceref.file.column_io import EncodedColumn, EncodedPage
from lanceref.file.schema import Field
from lanceref.pages import leafvalues, level_numbering
from lanceref.pages.chunks import FILL
from lanceref.pages.constant import the_value, value_page
from lanceref.pages.encode import (
    Encoded,
    LeafPolicy,
    chunk_ends,
    encode_rows,
    has_lists,
    is_all_null,
    leaf_values,
    miniblock_page,
    without_items,
)
from lanceref.pages.fullzip import fullzip_page
from lanceref.pages.planar import dense_layout, sparse_layout, value_plane
from lanceref.pages.shred import RavelledLevels, Shred, flat_levels, layer_code, ravel, shred
from lanceref.pages.sparse import encode_structure
from lanceref.pages.writer import dimensions_of
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from numpy.typing import NDArray

from lanceref_testing.noncanonical.codecs import encode_levels, encode_mini_blocks
from lanceref_testing.noncanonical.columns import random_cuts
from lanceref_testing.noncanonical.sparse import VariedStructureEncoder
from lanceref_testing.noncanonical.variations import VariationSampler

WIDER = {
    level_numbering.ALL_VALID_ITEM: (level_numbering.ALL_VALID_ITEM, level_numbering.NULLABLE_ITEM),
    level_numbering.NULLABLE_ITEM: (level_numbering.NULLABLE_ITEM,),
    level_numbering.ALL_VALID_LIST: (
        level_numbering.ALL_VALID_LIST,
        level_numbering.NULLABLE_LIST,
        level_numbering.EMPTYABLE_LIST,
        level_numbering.NULL_AND_EMPTY,
    ),
    level_numbering.NULLABLE_LIST: (level_numbering.NULLABLE_LIST, level_numbering.NULL_AND_EMPTY),
    level_numbering.EMPTYABLE_LIST: (
        level_numbering.EMPTYABLE_LIST,
        level_numbering.NULL_AND_EMPTY,
    ),
    level_numbering.NULL_AND_EMPTY: (level_numbering.NULL_AND_EMPTY,),
}
"""By layer code, the codes that are at least as general."""

CUT, CUT_INSIDE = "pages cut anywhere", "pages cut anywhere inside structs of lists"
"""Variations of page cuts: of single leaves, and of leaves inside structs of lists."""

ALWAYS_DICTIONARY = replace(Params(), dict_too_small=1, dict_divisor=1, dict_size_ratio=1e9)
"""Parameters that choose a dictionary for any values."""

MAX_MINI_BYTES = 2000
"""Most bytes of a value in mini-blocks."""

MAX_CHUNK_LEVELS = 8000
"""Most levels of a chunk."""


def encode_leaves(
    rng: VariationSampler, field: Field, array: pa.Array, version: FileVersion
) -> list[EncodedColumn]:
    """Encode a field of 2.1 to 2.3 into the columns of its leaves, each with its own page cuts."""
    encoding = ColumnEncoding()
    encoding.values.SetInParent()
    columns = []
    for path, rows in zip(leafvalues.leaf_paths(field), shred(array, field), strict=True):
        pages = []
        inside = any(step.step is leafvalues.Step.STRUCT for step in path) and has_lists(rows)
        name = CUT_INSIDE if inside else CUT
        for start, end in pairwise(random_cuts(rng, rows.num_rows, name)):
            part = rows.slice(start, end)
            if version >= V2_3 and can_be_sparse(part) and rng.varies("sparse structure", 0.4):
                buffers, layout = encode_sparse_page(rng, part, dimensions_of(path))
            else:
                buffers, layout = encode_page(rng, part, version)
            slots = (end - start) * leafvalues.scale_of(path)
            pages.append(EncodedPage(0, buffers, layout, slots, start))
        columns.append(EncodedColumn(encoding, pages))
    return columns


def encode_page(rng: VariationSampler, rows: Shred, version: FileVersion) -> Encoded:
    """Encode rows in a random layout."""
    if is_all_null(rows) or not rng.varies("pages of any layout", 0.9):
        return _canonical_page(rows, version)
    is_wider = rng.varies("wider layers")
    codes = [layer_code(layer) for layer in rows.layers]
    levels = ravel(rows, [rng.choice(WIDER[code]) if is_wider else code for code in codes])
    values, items = leaf_values(rows.leaf)
    kind = kind_of(rows.leaf.type)
    value = None
    if version == V2_2 and items is None and rng.random() < 0.5:
        value = the_value(values, rows.validity)
    if value is not None:
        return value_page(levels, value, kind.wide)
    # each value takes whole bytes; packed rows of fixed fields are not zipped
    is_zipped = items is None and (_must_zip(values) or rng.random() < 0.3)
    if is_zipped and (_must_zip(values) or isinstance(values, Fixed | Variable)):
        return _encode_fullzip(rng, levels, values, kind, version)
    params = (
        ALWAYS_DICTIONARY
        if items is None and rng.varies("dictionaries of any values", 0.3)
        else None
    )
    chosen = None if params is None else choose_dictionary(values, params, version, kind)
    if chosen is not None:
        values, items = Fixed(32, len(chosen[0]), chosen[0].view(np.uint8)), chosen[1]
    blocks = encode_mini_blocks(rng, values, kind, version)
    if int(np.diff(chunk_ends(levels, blocks.counts), prepend=0).max()) > MAX_CHUNK_LEVELS:
        return _canonical_page(rows, version)
    dictionary = None
    if items is not None:
        dictionary = (*encode_block(items, Params(), version, kind), items.count)
    encode = partial(encode_levels, rng)
    fill = rng.randrange(256) if rng.varies("other bytes inside chunks") else FILL
    buffers, mini = miniblock_page(levels, blocks, dictionary, version, encode, fill)
    return buffers, _layout_message(PageLayout(mini_block_layout=mini), version)


def can_be_sparse(rows: Shred) -> bool:
    """Whether rows can be encoded with sparse structure: in chunks, without a dictionary."""
    if is_all_null(rows) or pa.types.is_dictionary(rows.leaf.type):
        return False
    return not _must_zip(leaf_values(rows.leaf)[0])


def encode_sparse_page(
    rng: VariationSampler, rows: Shred, dimensions: tuple[int | None, ...]
) -> Encoded:
    """Encode rows in chunks after a sparse structure (2.3)."""
    structure = encode_structure(rows, dimensions, VariedStructureEncoder(rng))
    kind = kind_of(rows.leaf.type)
    blocks = encode_mini_blocks(rng, leaf_values(rows.leaf)[0], kind, V2_3)
    slots = flat_levels(len(rows.leaf))
    buffers, mini = miniblock_page(slots, blocks, None, V2_3)
    plane = value_plane(mini, dense=False)
    return [*buffers, *structure.buffers], sparse_layout(structure.layers, plane)


def _encode_fullzip(
    rng: VariationSampler, levels: RavelledLevels, values: Values, kind: Kind, version: FileVersion
) -> Encoded:
    """Zip the values with control words of at least the necessary width."""
    encoding, zipped = encode_zip(_whole_bytes(values), Params(), version, kind)
    bits = (_bits(rng, levels.rep), _bits(rng, levels.definition))
    buffers, layout = fullzip_page(levels, encoding, zipped, wide=kind.wide, bits=bits)
    if len(buffers) > 1 and rng.varies("wider row index"):
        buffers[1] = _widen(rng, np.frombuffer(buffers[1], np.uint8), levels.num_rows)
    return buffers, _layout_message(PageLayout(full_zip_layout=layout), version)


def _widen(rng: VariationSampler, index: NDArray[np.uint8], num_rows: int) -> NDArray[np.uint8]:
    """Return a row index [bytes] with the same or more bytes per number."""
    width = len(index) // (num_rows + 1)
    chosen = rng.choice([one for one in (1, 2, 4, 8) if one >= width])
    return index.view(f"<u{width}").astype(f"<u{chosen}").view(np.uint8)


def _bits(rng: VariationSampler, levels: NDArray[np.uint16] | None) -> int:
    if levels is None:
        return 0
    return int(levels.max(initial=0)).bit_length() + rng.randint(0, 3)


def _canonical_page(rows: Shred, version: FileVersion) -> Encoded:
    """Encode rows as writers do."""
    sizes = [layer.dimension if layer.dimension > 1 else None for layer in rows.layers]
    return encode_rows(rows, ravel(rows), LeafPolicy(version, Params(), None, tuple(sizes)))


def _must_zip(values: Values) -> bool:
    """Whether mini-blocks cannot hold the values."""
    if isinstance(values, Rows):
        return not all(isinstance(one, Fixed) for one in values.fields)
    return max_value_bytes(values) > MAX_MINI_BYTES or without_items(values)


def _whole_bytes(values: Values) -> Values:
    """Return booleans as bytes."""
    if isinstance(values, Fixed) and values.bits == 1:
        flags = np.unpackbits(values.data, count=values.count, bitorder="little")
        return Fixed(8, values.count, flags)
    return values


def _layout_message(layout: PageLayout, version: FileVersion) -> Message:
    return layout if version <= V2_2 else dense_layout(layout)
