"""Sparse structures from Python lists: layers with plain 64-bit sequences, and their buffers."""

from __future__ import annotations

from collections.abc import Sequence

from .building import flat, pb, pb3, words

NULLS = pb3.SparseValiditySet.NULL_POSITIONS
VALID = pb3.SparseValiditySet.VALID_POSITIONS


def sequence(values: Sequence[int], buffers: list[bytes]) -> pb.CompressiveEncoding:
    """Describe a sequence; one that is not empty gets a buffer of u64."""
    if not values:
        return pb.CompressiveEncoding(constant={})
    buffers.append(words(*values, width=8))
    return flat(64)


def validity(
    flags: Sequence[bool], buffers: list[bytes], meaning: int = NULLS
) -> pb3.SparseValiditySet:
    """Say which slots are valid, by the positions of one kind."""
    positions = [i for i, valid in enumerate(flags) if valid == (meaning == VALID)]
    return pb3.SparseValiditySet(
        meaning=meaning,  # type: ignore[arg-type]
        positions=sequence(positions, buffers),
        num_positions=len(positions),
    )


def item_layer(
    flags: Sequence[bool], buffers: list[bytes], meaning: int = NULLS
) -> pb3.SparseStructuralLayer:
    """A struct or leaf."""
    return pb3.SparseStructuralLayer(validity=validity(flags, buffers, meaning))


def list_layer(rows: Sequence[object], buffers: list[bytes]) -> pb3.SparseStructuralLayer:
    """A list layer of rows that are None or lists: positions, counts, validity."""
    filled = [i for i, row in enumerate(rows) if row]
    counts = [len(rows[i]) for i in filled]  # type: ignore[arg-type]
    lists = pb3.SparseListLayer(
        num_child_slots=sum(counts),
        non_empty_positions=sequence(filled, buffers),
        num_non_empty_positions=len(filled),
        counts=sequence(counts, buffers),
        validity=validity([row is not None for row in rows], buffers),
    )
    return pb3.SparseStructuralLayer(list=lists)
