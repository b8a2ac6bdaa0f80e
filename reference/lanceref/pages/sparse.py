"""Sparse structure (2.3): positions of what is null or not empty, instead of levels.

A planar page may describe each layer by the positions of its exceptions. Every layer has a domain,
its number of slots; the values are stored as in the other layouts, without levels.

Layout (layers from the outside in; each sequence is a block codec, with a page buffer of its own
after the value buffers unless it needs none)::

    validity          positions that are null, or that are valid
    list              positions that are not empty, their counts, validity
    fixed-size list   validity

Clauses: L.page.sparse.layers, L.page.sparse.meaning, L.page.sparse.positions,
L.page.sparse.num-positions, L.page.sparse.counts, L.page.sparse.child-slots,
L.page.sparse.null-list, L.page.sparse.buffers, L.page.limits.sparse
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import bitpack
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import flat_encoding, has_payload, remaining_buffer, value_bits
from lanceref.codecs.compressive import check_encoding
from lanceref.codecs.sequence import delta_encoding, range_encoding
from lanceref.codecs.values import Bools, Fixed, Ints, Validity
from lanceref.core.context import expect
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import V2_3
from lanceref.file.column_io import Buffer, read_cursors
from lanceref.pages.layers import Layer, ranges
from lanceref.pages.leafvalues import Path, Step
from lanceref.pages.shred import Shred
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from lanceref.proto.encodings_v2_3_pb2 import SparseStructuralLayer, SparseValiditySet

SLOT_BYTES = 2
"""Memory that one slot of a struct or leaf takes."""
LIST_BYTES = 32
"""Memory that one slot of a list layer takes."""

_ARMS = {
    Step.LIST: "list",
    Step.STRUCT: "validity",
    Step.LEAF: "validity",
    Step.FIXED_SIZE_LIST: "fixed_size_list",
}


@dataclass(frozen=True, slots=True)
class Structure:
    """The decoded structure: the layers around the leaf, and the leaf's own validity.

    `validity` of a layer does not yet say what outer layers mask.
    """

    layers: tuple[Layer, ...]
    leaf: Bools | None

    def take(self, rows: Ints) -> tuple[tuple[Layer, ...], Ints, Bools]:
        """Return the layers of some rows, their leaf slots, and which of these are valid.

        `rows` (n,), the validity (leaf slots,).
        """
        at, valid, taken = rows, np.ones(len(rows), np.bool_), []
        for layer in self.layers:
            if layer.validity is not None:
                valid = valid & layer.validity[at]
            if layer.offsets is None:
                taken.append(Layer(len(at), valid, None, layer.dimension))
                at = (at[:, None] * layer.dimension + np.arange(layer.dimension)).ravel()
                valid = np.repeat(valid, layer.dimension)
            else:
                starts, ends = layer.offsets[at], layer.offsets[at + 1]
                taken.append(Layer(len(at), valid, np.append(0, np.cumsum(ends - starts))))
                at = ranges(starts, ends)
                valid = np.ones(len(at), np.bool_)
        return tuple(taken), at, valid if self.leaf is None else valid & self.leaf[at]

    def leaf_slots(self, rows: Ints) -> Ints:
        """Return the first leaf slot of each row; the number of rows gives the total.

        `rows` and the result (n,).
        """
        at = rows
        for layer in self.layers:
            at = at * layer.dimension if layer.offsets is None else layer.offsets[at]
        return at


def domains(
    layers: Sequence[SparseStructuralLayer], path: Path, rows: int, place: Place
) -> list[int]:
    """Compare the layers with the path; return the domain of each. Raises CorruptPage."""
    clause, stored = "L.page.sparse.layers", [layer.WhichOneof("layer") for layer in layers]
    expect(clause, stored, [_ARMS[step.step] for step in path], place)
    sizes = [rows]
    for layer, step in zip(layers, path, strict=True):
        if step.step is Step.FIXED_SIZE_LIST:
            expect(clause, layer.fixed_size_list.dimension, step.dimension, place)
        is_list = step.step is Step.LIST
        sizes.append(layer.list.num_child_slots if is_list else sizes[-1] * step.dimension)
    return sizes[:-1]


def sequences(layers: Sequence[SparseStructuralLayer]) -> Iterator[CompressiveEncoding]:
    """Yield the codecs of all sequences in the order of their buffers."""
    for layer in layers:
        if layer.HasField("list"):
            yield layer.list.non_empty_positions
            yield layer.list.counts
        yield _validity_of(layer).positions


def _validity_of(layer: SparseStructuralLayer) -> SparseValiditySet:
    if layer.HasField("list"):
        return layer.list.validity
    return layer.fixed_size_list.validity if layer.HasField("fixed_size_list") else layer.validity


def check_structure(
    layers: Sequence[SparseStructuralLayer], num_buffers: int, file: FileBytes, place: Place
) -> None:
    """Check codecs, meanings and the number of buffers. Raises CorruptPage, UnknownEncoding."""
    for encoding in sequences(layers):
        check_encoding(encoding, V2_3, file.ctx, place)
    for layer in layers:
        meaning = _validity_of(layer).meaning
        if meaning not in (1, 2):
            raise CorruptPage("L.page.sparse.meaning", place, meaning, "1 or 2")
    needed = sum(has_payload(encoding) for encoding in sequences(layers))
    expect("L.page.sparse.buffers", num_buffers, needed, place)


class StructureDecoder:
    """Decodes the sequences of a page, each from the next buffer."""

    def __init__(self, file: FileBytes, extents: Sequence[Extent], place: Place) -> None:
        self._file, self._place = file, place
        cursors = read_cursors(file, extents, "structure", "L.page.sparse.buffers")
        self._cursors = iter(cursors)

    def decode(self, layers: Sequence[SparseStructuralLayer], sizes: list[int]) -> Structure:
        """Decode all layers; `sizes` are their domains. Raises CorruptPage, LimitExceeded."""
        needed = sum(
            size * (LIST_BYTES if layer.HasField("list") else SLOT_BYTES)
            for layer, size in zip(layers, sizes, strict=True)
        )
        self._file.bound_output(needed, "L.page.limits.sparse", self._place, "slots")
        with self._file.ctx.group("structure"):
            built = [self._layer(layer, size) for layer, size in zip(layers, sizes, strict=True)]
        return Structure(tuple(built[:-1]), built[-1].validity)

    def _layer(self, layer: SparseStructuralLayer, size: int) -> Layer:
        if layer.HasField("list"):
            return self._list(layer, size)
        dimension = layer.fixed_size_list.dimension or 1
        return Layer(size, self._validity(layer, size), None, dimension)

    def _list(self, layer: SparseStructuralLayer, size: int) -> Layer:
        lists, place = layer.list, self._place
        number, num_children = lists.num_non_empty_positions, lists.num_child_slots
        positions = self._positions(lists.non_empty_positions, number, size)
        counts = self._sequence(lists.counts, number)
        validity = self._validity(layer, size)
        if (counts == 0).any() or (counts > num_children).any():
            found = "a count of 0 or too many"
            raise CorruptPage("L.page.sparse.counts", place, found, "1 or more")
        lengths = np.zeros(size, dtype=np.int64)
        lengths[positions] = counts.astype(np.int64)
        expect("L.page.sparse.child-slots", int(lengths.sum()), num_children, place)
        if validity is not None and lengths[~validity].any():
            raise CorruptPage("L.page.sparse.null-list", place, "a null list with items", "none")
        return Layer(size, validity, np.append(0, np.cumsum(lengths)))

    def _validity(self, layer: SparseStructuralLayer, size: int) -> Validity:
        stored = _validity_of(layer)
        positions = self._positions(stored.positions, stored.num_positions, size)
        nulls = stored.meaning == SparseValiditySet.NULL_POSITIONS
        if nulls and not len(positions):
            return None
        validity = np.full(size, nulls)
        validity[positions] = not nulls
        return validity

    def _positions(self, encoding: CompressiveEncoding, number: int, size: int) -> Ints:
        if number > size:
            raise CorruptPage("L.page.sparse.num-positions", self._place, number, f"at most {size}")
        positions = self._sequence(encoding, number)
        if number and (int(positions[-1]) >= size or (positions[1:] <= positions[:-1]).any()):
            found, wanted = f"positions up to {int(positions[-1])}", f"increasing, below {size}"
            raise CorruptPage("L.page.sparse.positions", self._place, found, wanted)
        return positions.astype(np.int64)

    def _sequence(self, encoding: CompressiveEncoding, number: int) -> NDArray[np.uint64]:
        cursor = Cursor(memoryview(b""), self._place.offset, self._file.ctx)
        if has_payload(encoding):
            cursor = next(self._cursors)
        elif number == 0:
            return np.empty(0, dtype="<u8")
        bits = value_bits(encoding)
        values = None
        if bits in (64, 0):
            values = decode_block(encoding, remaining_buffer(cursor), number)
        if not isinstance(values, Fixed) or values.bits != 64 or values.count != number:
            found, wanted = f"{bits} bits", f"{number} integers of 64 bits"
            raise CorruptPage("L.page.sparse.num-positions", self._place, found, wanted)
        sequence: NDArray[np.uint64] = values.data.view("<u8")
        return sequence


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
            message.list.validity.SetInParent()
        elif is_leaf_or_struct:
            message.validity.SetInParent()
        else:
            message.fixed_size_list.dimension = layer.dimension
        _validity_of(message).CopyFrom(self._validity(layer.validity, layer.count))
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

    def _sequence(self, values: Ints) -> CompressiveEncoding:
        encoding, data = encode_sequence(values)
        if data is not None:
            self.buffers.append(data)
        return encoding


def encode_sequence(values: Ints) -> tuple[CompressiveEncoding, Buffer | None]:
    """Return the codec of a sequence of 64-bit integers, and its buffer if it needs one.

    `values` (n,).
    """
    encoding = CompressiveEncoding()
    if not len(values):
        encoding.constant.SetInParent()
        return encoding, None
    steps = np.diff(values)
    if not steps.any():
        encoding.constant.value = int(values[0]).to_bytes(8, "little")
        return encoding, None
    if steps[0] > 0 and (steps == steps[0]).all():
        return range_encoding(64, int(values[0]), int(steps[0])), None
    if (steps > 0).all():
        child, data = _block(steps)
        return delta_encoding(64, int(values[0]), child), data
    return _block(values)


def _block(values: Ints) -> tuple[CompressiveEncoding, Buffer]:
    """Pack integers out of line, or store them as they are."""
    numbers = values.astype("<u8")
    width = int(bitpack.block_widths(numbers).max())
    if bitpack.out_of_line_bytes(len(numbers), 64, width) < numbers.nbytes:
        packed, _ = bitpack.encode_out_of_line(numbers, np.array([len(numbers)]), width)
        return bitpack.out_of_line_encoding(64, width), packed
    return flat_encoding(64), numbers.view(np.uint8)


def encode_structure(
    rows: Shred, dimensions: tuple[int | None, ...], encoder: StructureEncoder | None = None
) -> StructureEncoder:
    """Describe the layers of a leaf, its own too, with a fresh encoder or that given.

    `dimensions` has one entry per layer: that of a fixed-size list, None for other layers.
    """
    encoder = StructureEncoder() if encoder is None else encoder
    for layer, dimension in zip(rows.layers, dimensions, strict=True):
        encoder.add(layer, dimension is None)
    return encoder
