"""Fast forms of what builds indices over texts and JSON documents; importing it registers all.

JSON documents are read from their bytes, the containers of all of them level by level. All is
checked that is checked when a document is read; where something is wrong, or is more than a single
value, the plain form reads the documents again.

ASCII texts are cut into words together, by a line break between two of them, which is in no word.

FNV-1a multiplies by an odd number: a bit of its lowest byte depends on that bit and lower ones of
the byte before. So the lowest bytes of all states are found bit by bit, and with these what each
byte of the data adds to the hash, a polynomial in the prime. Signatures of many texts are made by a
compiled kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import bitmap
from lanceref.core.errors import OperationRefused
from lanceref.core.packed_values import bytes_of, offsets_of
from lanceref.fast.codecs import KERNEL_USE
from lanceref.fast.files import Unusual, expect
from lanceref.index.bloom import Hashes
from lanceref.index.fm import partition
from lanceref.index.fm.partition import FINGERPRINT_PRIME, FINGERPRINT_START, U64
from lanceref.index.full_text import tokenizers
from lanceref.index.full_text.packed_integers import Counts, Numbers, ranges
from lanceref.index.full_text.packed_integers import offsets_of as sums
from lanceref.index.full_text.tokenizers import Cut
from lanceref.index.minhash import signature
from lanceref.index.minhash.signature import Signatures
from lanceref.index.scalar import json
from lanceref.index.scalar.json import known_type
from lanceref.json import jsonb
from lanceref.json.json_path import members_of

Bytes = NDArray[np.uint8]

Items = NDArray[np.int64]
"""Items of containers [4, n]: number of the container, or of the document; kind, start and size."""

MOST_BYTES = 1 << 22
"""Bytes of documents that are read together: an item has at least four of them."""

MOST_LEVELS = 32
"""Levels of containers that are read."""

NOWHERE = -1
"""In place of the document of a container that is not on the path, and of the value of no key."""

WORD_BYTES = 4

_NOT_FINITE = [jsonb.NAN, jsonb.INFINITY, jsonb.MINUS_INFINITY]

_SIZES = np.zeros((256, 10), np.bool_)
"""Whether a number with a tag may have so many bytes, the tag counted."""
_SIZES[[jsonb.ZERO, *_NOT_FINITE], 1] = True
_SIZES[np.ix_([jsonb.SIGNED, jsonb.UNSIGNED], [2, 3, 5, 9])] = True
_SIZES[jsonb.DOUBLE, 9] = True


@json.values_at.replaced_by
def values_at(documents: pa.Array, path: str, type_: pa.DataType | None) -> pa.Array:
    """Return what a path finds in documents (large_binary), as values of `type_`.

    Raises OperationRefused, QueryFailed, FormatError.
    """
    offsets, names = offsets_of(documents), members_of(path)
    size = int(offsets[-1] - offsets[0])
    if size > MOST_BYTES and len(documents) > 1:
        half = len(documents) // 2
        with suppress(OperationRefused):  # unless a document in the other half cannot be read
            one = values_at(documents[:half], path, type_)
            other = values_at(documents[half:], path, type_ or known_type(one))
            return pa.concat_arrays([one.cast(other.type), other])
    elif names is not None and 0 < size <= MOST_BYTES:
        with suppress(Unusual):
            found = _members(documents, [name.encode("utf-8", "surrogatepass") for name in names])
            return _values(documents, found, type_)
    return json.values_at.plain(documents, path, type_)


def _members(documents: pa.Array, names: Sequence[bytes]) -> Items:
    """Return the values that names lead to, and their documents. Raises Unusual."""
    offsets, buffer = offsets_of(documents), documents.buffers()[2]
    paths = np.flatnonzero(np.asarray(documents.is_valid()) & (np.diff(offsets) > 0))
    starts, ends, data = offsets[paths], offsets[paths + 1], bytes_of(buffer)
    found = np.empty((4, 0), np.int64)
    for level in range(MOST_LEVELS):
        if not len(starts):
            return found
        items, values = _level(buffer, starts, ends, is_top=not level)
        owners, kinds, begins, sizes = items
        on_path = np.full(len(owners), NOWHERE)
        if level < len(names):
            name = names[level]
            keys = np.flatnonzero((values != NOWHERE) & (sizes == len(name)))
            keys = keys[paths[owners[keys]] != NOWHERE]
            for place, byte in enumerate(name):
                keys = keys[data[begins[keys] + place] == byte]
            own = owners[keys]
            expect(own[1:] != own[:-1])  # of a name twice the last counts
            on_path[values[keys]] = paths[own]
            if level == len(names) - 1:
                found = np.stack([paths[own], *items[1:, values[keys]]])
        below = kinds == jsonb.CONTAINER
        paths, starts, ends = on_path[below], begins[below], (begins + sizes)[below]
    raise Unusual


def _level(
    buffer: pa.Buffer, starts: Counts, ends: Counts, *, is_top: bool
) -> tuple[Items, Counts]:
    """Return the items of containers, and of each the number of its value if it is a key (n,).

    `starts` and `ends` (containers,). Raises Unusual.
    """
    data = bytes_of(buffer)
    words = np.ndarray((max(0, len(data) - WORD_BYTES + 1),), ">u4", data.data, strides=(1,))
    expect(ends - starts >= WORD_BYTES)
    # A container: a header, an entry for each key and item, then their payloads.
    headers = words[starts].astype(np.int64)
    shapes, counts = headers & jsonb.KINDS, headers & jsonb.COUNT
    num_keys = np.where(shapes == jsonb.OBJECT, counts, 0)
    num_items = np.where(shapes == jsonb.SCALAR, 1, counts + num_keys)
    payloads = starts + WORD_BYTES * (1 + num_items)
    is_lone = is_top & (headers == jsonb.SCALAR)
    expect((shapes == jsonb.OBJECT) | (shapes == jsonb.ARRAY) | is_lone)
    expect(payloads <= ends)
    owners, firsts = np.repeat(np.arange(len(starts)), num_items), sums(num_items)
    numbers = np.arange(len(owners)) - firsts[owners]
    entries = words[starts[owners] + WORD_BYTES * (1 + numbers)].astype(np.int64)
    kinds, sizes = entries >> 28, entries & jsonb.SIZE
    # payloads follow each other from the end of their container's entries
    before = sums(sizes)
    shifts = payloads - before[firsts[:-1]]
    expect(before[firsts[1:]] + shifts == ends)
    items = np.stack([owners, kinds, before[:-1] + shifts[owners], sizes])
    is_key = numbers < num_keys[owners]
    expect(kinds[is_key] == jsonb.STRING)
    is_number, is_text = kinds == jsonb.NUMBER, kinds == jsonb.STRING
    may_have_bytes = is_number | is_text | (kinds == jsonb.CONTAINER)
    expect((kinds <= jsonb.CONTAINER) & (may_have_bytes | (sizes == 0)))
    expect((sizes[is_number] > 0) & (sizes[is_number] < _SIZES.shape[1]))
    expect(_SIZES[data[items[2, is_number]], sizes[is_number]])
    _texts(buffer, items[:, is_text])
    return items, np.where(is_key, np.arange(len(owners)) + num_keys[owners], NOWHERE)


def _texts(buffer: pa.Buffer, items: Items) -> pa.Array:
    """Return strings as large_utf8, between two of them a null. Raises Unusual for other bytes."""
    ends = np.stack([items[2], items[2] + items[3]], 1).reshape(-1)
    is_item = np.arange(max(0, len(ends) - 1)) % 2 == 0
    buffers = [bitmap(is_item), pa.py_buffer(ends), buffer]
    texts = pa.Array.from_buffers(pa.large_binary(), len(is_item), buffers)
    try:
        return texts.cast(pa.large_utf8())
    except pa.ArrowInvalid as error:
        raise Unusual from error


def _values(documents: pa.Array, found: Items, type_: pa.DataType | None) -> pa.Array:
    """Return what was found in documents as one array. Raises Unusual for values of other types."""
    buffer, found = documents.buffers()[2], found[:, found[1] != jsonb.NULL]
    if np.all(found[1] == jsonb.STRING):
        owners, values = found[0], _texts(buffer, found).drop_null().cast(pa.utf8())
    else:
        expect(found[1] == jsonb.NUMBER)
        owners, values = _numbers(bytes_of(buffer), found, type_)
    if not len(owners):
        return pa.nulls(len(documents), type_ or pa.null())
    if type_ not in (None, values.type):
        raise Unusual
    places = np.full(len(documents), NOWHERE)
    places[owners] = np.arange(len(owners))
    return values.take(pa.array(places, mask=places == NOWHERE))


def _numbers(data: Bytes, items: Items, type_: pa.DataType | None) -> tuple[Counts, pa.Array]:
    """Return the finite numbers as int64 or float64, and their documents. Raises Unusual.

    The last eight bytes of an item and of what is before it hold the number.
    """
    owners, _, starts, sizes = items
    tags, words = data[starts], np.ndarray((len(data) - 7,), ">u8", data.data, strides=(1,))
    raw = words[starts + sizes - 8].astype(np.uint64)
    unused = 8 * np.minimum(9 - sizes, 7)  # bits; of a zero the tag is left
    high = raw << unused.astype(np.uint64)
    signed, unsigned = high.view(np.int64) >> unused, high >> unused.astype(np.uint64)
    integers = np.where(tags == jsonb.SIGNED, signed, unsigned.view(np.int64))
    expect((tags != jsonb.UNSIGNED) | (integers >= 0))
    floats = np.where(tags == jsonb.DOUBLE, raw.view(np.float64), integers)
    kept = np.isfinite(floats) & ~np.isin(tags, _NOT_FINITE)
    is_float = tags[kept] == jsonb.DOUBLE
    if type_ == pa.float64() or is_float[:1].any():
        return owners[kept], pa.array(floats[kept])
    expect(~is_float)
    return owners[kept], pa.array(integers[kept])


_IN_WORDS = np.array([chr(byte).isalnum() for byte in range(128)])
"""Whether an ASCII character is one of a word."""

_WORDS_ALONE = bytes(byte if byte < 128 and _IN_WORDS[byte] else ord(" ") for byte in range(256))
"""Each character of a word, a blank for any other."""


@tokenizers.cut_all.replaced_by
def cut_all(cut: Cut, texts: Sequence[str]) -> tuple[list[str], Counts, Numbers]:
    """Return the words of all texts, how many each has, (texts,), and their places, (words,)."""
    joined = "\n".join(["", *texts, ""])
    if cut is not tokenizers.simple or not joined.isascii():
        return tokenizers.cut_all.plain(cut, texts)
    data = joined.encode("ascii")
    words = data.translate(_WORDS_ALONE).decode("ascii").split()
    inside = _IN_WORDS[np.frombuffer(data, np.uint8)]
    begins = np.flatnonzero(inside[1:] & ~inside[:-1])
    ends = sums(np.array([len(text) + 1 for text in texts], np.int64))
    firsts = np.searchsorted(begins, ends)
    counts = np.diff(firsts)
    return words, counts, ranges(np.zeros_like(counts), counts).astype(np.uint32)


HASHED = 1 << 15
"""Bytes that are hashed together."""

_POWERS = np.multiply.accumulate(np.full(HASHED, FINGERPRINT_PRIME, np.uint64))[::-1]


@partition.fnv_hash.replaced_by
def fnv_hash(data: bytes) -> int:
    """Return the hash of bytes, FNV-1a of 64 bits from the state of a fingerprint on."""
    found, octets = FINGERPRINT_START, np.frombuffer(data, np.uint8)
    for first in range(0, len(octets), HASHED):
        part = octets[first : first + HASHED]
        powers, before = _POWERS[-len(part) :], _lowest_bytes(found & 0xFF, part)
        added = (before ^ part).astype(np.uint64) - before.astype(np.uint64)
        found = (found * int(powers[0]) + int((added * powers).sum())) & U64
    return found


def _lowest_bytes(start: int, part: Bytes) -> Bytes:
    """Return the lowest byte of the state before each byte (n,) of some data."""
    lowest, prime = np.zeros(len(part), np.uint8), np.uint8(FINGERPRINT_PRIME & 0xFF)
    changes = np.empty(len(part), np.uint8)
    for bit in range(8):
        lower = (lowest ^ part) & np.uint8((1 << bit) - 1)
        changes[0] = start
        changes[1:] = ((lower * prime) ^ part)[:-1]
        lowest |= np.bitwise_xor.accumulate(changes & np.uint8(1 << bit))
    return lowest


PRODUCTS = 4
"""Products of hashes that count as a decoded byte in the choice of kernels."""


@signature.signed.replaced_by
def signed(hashes: Hashes, counts: Counts, num_hashes: int) -> Signatures:
    """Return the signatures [texts, hashes] of texts, each of so many of the hashes (texts,)."""
    if not KERNEL_USE.use(len(hashes) * num_hashes // PRODUCTS):
        return signature.signed.plain(hashes, counts, num_hashes)
    from lanceref.fast import compiled as kernel

    numbers = np.empty((len(counts), num_hashes), np.uint16)
    kernel.sign(hashes, sums(counts), signature.constants(num_hashes), numbers)
    return numbers
