"""Positive cases of codecs in places where the plain cases do not have them: zipped, packed, split.

Knobs make the oracle write them, each in the versions that have the codec in that place.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file

_SINCE_2_1 = ("2.1", "2.2", "2.3")
_SINCE_2_2 = ("2.2", "2.3")

_PAGE = "L.page.fullzip.entry"
_PLANE = "L.page.planar.zip-levels"

_URLS = [f"http://example.com/path/{i % 17}/index.html?q={i}" for i in range(60)]
_LONG = pa.array([url * 30 for url in _URLS])
_WORDS = pa.array([f"{'a' * 15} {i * 7919 % 100003}" for i in range(500)])

_PAIR = pa.struct([("a", pa.int32()), ("b", pa.int16())])
_PAIRS = pa.array([{"a": i, "b": i * 2} for i in range(20)], _PAIR)
_FEW = pa.array([{"a": i % 3, "b": i % 2} for i in range(1000)], _PAIR)

_WIDE = pa.struct(
    [
        *(("a", pa.decimal128(20, 0)), ("b", pa.decimal256(40, 0))),
        *(("s", pa.string()), ("v", pa.list_(pa.float32(), 2)), ("l", pa.large_binary())),
    ]
)
_WIDE_ROWS = pa.array(
    [{"a": i, "b": -i, "s": _URLS[i], "v": [i, 0.5], "l": b"x" * i} for i in range(9)], _WIDE
)


def _vectors(depth: int) -> pa.Array:
    array = pa.array(np.arange(10 * 2**depth) % 100, pa.int8())
    for _ in range(depth):
        array = pa.FixedSizeListArray.from_arrays(array, 2)
    return array


def _lists(items: pa.Array) -> pa.Array:
    offsets = pa.array(range(0, len(items) + 1, 2), pa.int32())
    return pa.ListArray.from_arrays(offsets, items)


def _case(
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    versions: tuple[str, ...],
    **knobs: str,
) -> list[Positive]:
    """Describe a case in each of the versions."""
    return [
        Positive(
            id=f"file/{version}/{slug}",
            title=title,
            clauses=clauses,
            make=file(column(array, **knobs), version),
            version=version,
        )
        for version in versions
    ]


def _zipped(
    slug: str, title: str, array: pa.Array, versions: tuple[str, ...], **knobs: str
) -> list[Positive]:
    cases = []
    for version in versions:
        clause = _PLANE if version == "2.3" else _PAGE
        cases += _case(f"zipped/{slug}", title, array, (clause,), (version,),
                       structural_encoding="fullzip", **knobs)  # fmt: skip
    return cases


_NUMBERS = pa.array(range(30))

POSITIVES: tuple[Positive, ...] = (
    *_zipped("fsst", "long strings in symbols, one by one", _LONG, _SINCE_2_1, compression="fsst"),
    *_zipped("zstd", "long strings compressed one by one", _LONG, _SINCE_2_1, compression="zstd"),
    *_zipped("lz4-level", "strings compressed by lz4, which heeds no level", _LONG, _SINCE_2_2,
             compression="lz4", compression_level="3"),
    *_zipped("int16", "two bytes each", _NUMBERS.cast(pa.int16()), _SINCE_2_1),
    *_zipped("float64", "eight bytes each", _NUMBERS.cast(pa.float64()), _SINCE_2_2),
    *_zipped("decimal128", "sixteen bytes each", _NUMBERS.cast(pa.decimal128(20, 0)), _SINCE_2_2),
    *_zipped("decimal256", "32 bytes each", _NUMBERS.cast(pa.decimal256(40, 0)), _SINCE_2_1),
    *_zipped("vectors", "pairs of bytes", _vectors(1), _SINCE_2_2),
    *_zipped("strings", "short strings after their lengths", pa.array(_URLS), ("2.2",),
             compression="none"),
    *_zipped("large-strings", "lengths of eight bytes, a row index of two",
             pa.array(["x" * i for i in range(60)], pa.large_string()), _SINCE_2_1),
    *_zipped("lists", "lists that are never null: repetition levels alone", _lists(_NUMBERS),
             _SINCE_2_1),
    *_zipped("packed", "packed rows of fixed fields, zipped", _PAIRS, ("2.3",), packed="true"),
    *_case("packed-struct/wide", "packed rows: decimals, a string, a vector, bytes", _WIDE_ROWS,
           ("L.codec.packed-struct.row",), _SINCE_2_2, packed="true"),
    *_case("packed-struct/zstd", "packed rows in chunks", _FEW, ("L.codec.packed-struct.bits",),
           ("2.3",), packed="true", compression="zstd"),
    *_case("fixed-size-list/deep", "lists of lists of lists of two", _vectors(3),
           ("L.codec.fixed-size-list.items",), _SINCE_2_2),
    *_case("general/strings", "chunks of strings, compressed", _WORDS, ("L.codec.general.frame",),
           _SINCE_2_1, compression="zstd", dict_divisor="100000"),
    *_case("rle/int8", "runs of bytes", pa.array(np.repeat(np.arange(10), 100), pa.int8()),
           ("L.codec.rle.pairs",), _SINCE_2_1),
    *_case("byte-stream-split/always", "floats split without being asked how they compress",
           pa.array(np.linspace(0, 1, 600), pa.float32()), ("L.codec.byte-stream-split.size",),
           _SINCE_2_1, bss="on", compression="lz4"),
    *_case("blob/never-null", "blobs of which none is null",
           pa.array([b"ab", b"", b"c" * 9], pa.large_binary()), ("L.page.blob.payload",),
           ("2.1", "2.2"), blob="true"),
)  # fmt: skip
"""Every case of a codec in another place."""
