"""Sparse structure (2.3), written: positions of exceptions instead of levels.

Layout: see `sparse`.

Clauses: L.page.sparse.layers, L.page.sparse.meaning, L.page.sparse.positions,
L.page.sparse.counts, L.page.sparse.buffers
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack_encode import (
    block_widths,
    encode_out_of_line,
    out_of_line_bytes,
    out_of_line_encoding,
)
from lanceref.codecs.values import flat_encoding
from lanceref.file.column_writer import Buffer
from lanceref.pages.nested import Layer
from lanceref.pages.shred import Shred
from lanceref.pages.validity import Validity
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from lanceref.proto.encodings_v2_3_pb2 import SparseStructuralLayer, SparseValiditySet

Sequence64 = NDArray[np.int64]
"""Positions or counts."""


class StructureEncoder:
    """Collects the layers of a page, from the outside in, and the buffers of their sequences."""

    def __init__(self) -> None:
        self.layers: list[SparseStructuralLayer] = []
        self.buffers: list[Buffer] = []

    def add(self, layer: Layer, is_leaf_or_struct: bool) -> None:
        """Describe one layer; a fixed-size list has a dimension, a list offsets."""
        message = SparseStructuralLayer()
        if layer.offsets is not None:
            lengths = np.diff(layer.offsets)
            positions = np.flatnonzero(lengths)
            message.list.num_child_slots = int(layer.offsets[-1])
            message.list.num_non_empty_positions = len(positions)
            message.list.non_empty_positions.CopyFrom(self._sequence(positions))
            message.list.counts.CopyFrom(self._sequence(lengths[positions]))
            message.list.validity.CopyFrom(self._validity(layer.validity, layer.count))
        elif is_leaf_or_struct:
            message.validity.CopyFrom(self._validity(layer.validity, layer.count))
        else:
            message.fixed_size_list.dimension = layer.dimension
            message.fixed_size_list.validity.CopyFrom(self._validity(layer.validity, layer.count))
        self.layers.append(message)

    def _validity(self, validity: Validity, count: int) -> SparseValiditySet:
        """Name the null positions or the valid ones, whichever are fewer."""
        valid = np.ones(count, np.bool_) if validity is None else validity
        num_valid = int(np.count_nonzero(valid))
        if count - num_valid <= num_valid:
            meaning, positions = SparseValiditySet.NULL_POSITIONS, np.flatnonzero(~valid)
        else:
            meaning, positions = SparseValiditySet.VALID_POSITIONS, np.flatnonzero(valid)
        encoding = self._sequence(positions)
        return SparseValiditySet(meaning=meaning, positions=encoding, num_positions=len(positions))

    def _sequence(self, values: Sequence64) -> CompressiveEncoding:
        encoding, data = encode_sequence(values)
        if data is not None:
            self.buffers.append(data)
        return encoding


def encode_sequence(values: Sequence64) -> tuple[CompressiveEncoding, Buffer | None]:
    """Return the codec of a sequence of 64-bit integers, and its buffer if it needs one."""
    encoding = CompressiveEncoding()
    if not len(values):
        encoding.constant.SetInParent()
        return encoding, None
    steps = np.diff(values)
    if not steps.any():
        encoding.constant.value = int(values[0]).to_bytes(8, "little")
        return encoding, None
    if steps[0] > 0 and (steps == steps[0]).all():
        encoding.range.uncompressed_bits_per_value = 64
        encoding.range.start, encoding.range.step = int(values[0]), int(steps[0])
        return encoding, None
    if (steps > 0).all():
        encoding.delta.uncompressed_bits_per_value = 64
        encoding.delta.base = int(values[0])
        child, data = _block(steps)
        encoding.delta.deltas.CopyFrom(child)
        return encoding, data
    return _block(values)


def _block(values: Sequence64) -> tuple[CompressiveEncoding, Buffer]:
    """Pack integers out of line, or store them as they are."""
    numbers = values.astype("<u8")
    width = int(block_widths(numbers).max())
    if out_of_line_bytes(numbers, width) < numbers.nbytes:
        return out_of_line_encoding(64, width), encode_out_of_line(numbers, width)
    return flat_encoding(64), numbers.view(np.uint8)


def encode_structure(
    rows: Shred, dimensions: tuple[int | None, ...], encoder: StructureEncoder | None = None
) -> StructureEncoder:
    """Describe the layers around a leaf and its validity, with a fresh encoder or that given.

    `dimensions` has one entry per layer: that of a fixed-size list, None for other layers.
    """
    encoder = StructureEncoder() if encoder is None else encoder
    for layer, dimension in zip(rows.layers, dimensions, strict=True):
        encoder.add(layer, dimension is None)
    encoder.add(Layer(len(rows.leaf), rows.validity), is_leaf_or_struct=True)
    return encoder
