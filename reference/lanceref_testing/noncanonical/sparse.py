"""Sparse structure of 2.3: positions and counts in any codec, of null or of valid slots.

Writers take the codec with the fewest bytes, and list whichever positions are fewer.
"""

from __future__ import annotations

import numpy as np
from lanceref.codecs import general
from lanceref.codecs.bitpack import block_widths, encode_out_of_line, out_of_line_encoding
from lanceref.codecs.buffers import flat_encoding
from lanceref.codecs.values import Ints, Validity
from lanceref.file.column_io import Buffer
from lanceref.pages.sparse import StructureEncoder, encode_sequence
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from lanceref.proto.encodings_v2_3_pb2 import SparseValiditySet

from lanceref_testing.noncanonical.variations import VariationSampler


class VariedStructureEncoder(StructureEncoder):
    """Encodes the layers of a page with random codecs and meanings of positions."""

    def __init__(self, rng: VariationSampler) -> None:
        super().__init__()
        self._rng = rng

    def _validity(self, validity: Validity, count: int) -> SparseValiditySet:
        if not self._rng.varies("more positions than needed", 0.3):
            return super()._validity(validity, count)
        valid = np.ones(count, np.bool_) if validity is None else validity
        lists_nulls = self._rng.random() < 0.5
        meaning = (
            SparseValiditySet.NULL_POSITIONS if lists_nulls else SparseValiditySet.VALID_POSITIONS
        )
        positions = np.flatnonzero(~valid if lists_nulls else valid)
        encoding = self._sequence(positions)
        return SparseValiditySet(meaning=meaning, positions=encoding, num_positions=len(positions))

    def _sequence(self, values: Ints) -> CompressiveEncoding:
        if not len(values) or not self._rng.varies("positions in any codec", 0.7):
            return super()._sequence(values)
        encoding, data = draw_encoding(self._rng, values)
        if data is not None:
            self.buffers.append(data)
        return encoding


def draw_encoding(
    rng: VariationSampler, values: Ints, *, are_deltas: bool = False
) -> tuple[CompressiveEncoding, Buffer | None]:
    """Encode 64-bit integers by a random codec; return it, and its buffer where it has one."""
    steps = np.diff(values)
    rises = len(values) > 1 and steps.min() >= 0
    if rises and rng.random() < 0.4 and (not are_deltas or rng.varies("deltas of deltas")):
        encoding = CompressiveEncoding()
        encoding.delta.uncompressed_bits_per_value = 64
        encoding.delta.base = int(values[0])
        child, data = draw_encoding(rng, steps, are_deltas=True)
        encoding.delta.deltas.CopyFrom(child)
        return encoding, data
    numbers = values.astype("<u8")
    if rng.varies("compressed deltas" if are_deltas else "compressed positions", 0.3):
        scheme = rng.choice(("lz4", "zstd"))
        frame = general.compress(scheme, None, numbers.view(np.uint8).data)
        return general.general_encoding(scheme, None, flat_encoding(64)), frame
    match rng.choice(("flat", "packed", "plain")):
        case "flat":
            return flat_encoding(64), numbers.view(np.uint8)
        case "packed":
            width = rng.randint(max(1, int(block_widths(numbers).max())), 63)
            packed, _ = encode_out_of_line(numbers, np.array([len(numbers)]), width)
            return out_of_line_encoding(64, width), packed
    return (flat_encoding(64), numbers.view(np.uint8)) if are_deltas else encode_sequence(values)
