"""Coverage of codecs: the arms of `CompressiveEncoding` by place, and their widths."""

from __future__ import annotations

from collections.abc import Iterator

from lanceref.codecs.buffers import value_bits
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from lance_conformance.coverage.messages import Fact

PAGE_VERSIONS = ("2.1", "2.2", "2.3")
"""File versions whose pages use these messages."""

WORDS = (8, 16, 32, 64)
"""Bits of the values that can be packed."""

FIXED_BITS = ("8", "16", "32", "64", "128", "256")
"""Bits of the values of Arrow's types of fixed width, without booleans."""

_LEVELS = ("flat", "inline_bitpacking", "out_of_line_bitpacking", "general")
_ONE_BY_ONE = ("flat", "fixed_size_list", "packed_struct", "variable", "fsst", "general")
_PLAIN = ("flat", "fixed_size_list", "packed_struct", "byte_stream_split", "rle")
_BLOCK = (*_LEVELS, "rle")
_SEQUENCES = ("constant", "range", "delta", "dictionary")
_CHUNK = (*_PLAIN, "inline_bitpacking", "variable", "fsst", "general")
_NESTED = ("flat", "inline_bitpacking", "out_of_line_bitpacking", "constant", "range")
_RUNS = ("flat", "out_of_line_bitpacking", "general", "constant", "range")

_PLACES: dict[str, tuple[str, ...]] = {
    "levels in 2.1": _LEVELS,
    **{f"levels in {version}": _BLOCK for version in ("2.2", "2.3")},
    **{f"chunk values in {version}": _CHUNK for version in PAGE_VERSIONS},
    "zipped values in 2.1": _ONE_BY_ONE,
    **{
        f"zipped values in {version}": (*_ONE_BY_ONE, "variable_packed_struct")
        for version in ("2.2", "2.3")
    },
    **{
        f"dictionary in {version}": (*_BLOCK, "variable", "fsst", "fixed_size_list")
        for version in ("2.1", "2.2")
    },
    "dictionary in 2.3": (
        *(*_BLOCK, "variable", "fsst", "fixed_size_list"),
        *("constant", "range", "delta"),
    ),
    "offsets in 2.3": (*_BLOCK, *_SEQUENCES),
    "run values in 2.3": _RUNS,
    "run lengths in 2.3": _RUNS,
    "positions in 2.3": (*_BLOCK, *_SEQUENCES),
    "counts in 2.3": (*_BLOCK, *_SEQUENCES),
    "indices in 2.3": (*_BLOCK, *_SEQUENCES),
    "deltas in 2.3": _NESTED,
    "list items": ("flat", "fixed_size_list", "constant"),
    "packed fields of fixed width": ("flat", "fixed_size_list", "packed_struct"),
    "packed fields of variable width": ("variable", "fsst", "general"),
    "compressed chunk values": (*_PLAIN, "variable", "fsst", "inline_bitpacking"),
    "compressed zipped values": ("variable", "fsst"),
}

AXES: dict[str, tuple[str, ...]] = {
    **{f"codec of {place}": arms for place, arms in _PLACES.items()},
    **{f"inline width of {T}-bit words": tuple(map(str, range(T + 1))) for T in WORDS},
    **{f"out-of-line width of {T}-bit words": tuple(map(str, range(T + 1))) for T in WORDS},
    "flat bits of chunk values": ("1", *FIXED_BITS),
    "flat bits of zipped values": FIXED_BITS,
    "run value bits": FIXED_BITS,
    "run length bits": tuple(map(str, WORDS)),
    "byte stream split bits": ("32", "64"),
    "packed field bits": ("8", "16", "32", "64", "128", "256"),
    "packed field length bits": ("32", "64"),
    "offset bits": ("32", "64"),
    "constant bytes": ("1", "2", "4", "8"),
    "range bits": ("32", "64"),
    "delta bits": ("32", "64"),
    "depth of fixed-size lists": ("1", "2", "3"),
    "general compression": ("lz4", "lz4 at a level", "zstd", "zstd at a level"),
    "fsst symbol table": ("on", "off"),
}
"""Axes of places and widths of codecs."""

_SCHEMES = {1: "lz4", 2: "zstd"}

FSST_SWITCH = 1 << 24
"""Bit of the header of a symbol table that is set when symbols are used."""


def codec_facts(encoding: CompressiveEncoding, place: str, version: str) -> Iterator[Fact]:
    """Yield the arm and widths of an encoding in its place, and those of nested encodings."""
    arm = encoding.WhichOneof("compression") or "none"
    at = f"{place} in {version}"
    yield f"codec of {at if at in _PLACES else place}", arm
    if arm == "flat" and place in ("chunk values", "zipped values"):
        yield f"flat bits of {place}", str(encoding.flat.bits_per_value)
    elif arm == "out_of_line_bitpacking":
        packed = encoding.out_of_line_bitpacking
        axis = f"out-of-line width of {packed.uncompressed_bits_per_value}-bit words"
        yield axis, str(packed.values.flat.bits_per_value)
    elif arm == "variable":
        yield "offset bits", str(value_bits(encoding.variable.offsets))
        if version == "2.3":
            yield from codec_facts(encoding.variable.offsets, "offsets", version)
    elif arm in ("constant", "range", "delta", "dictionary"):
        yield from _sequence_facts(encoding, arm, place, version)
    elif arm == "packed_struct":
        yield from (("packed field bits", str(b)) for b in encoding.packed_struct.bits_per_value)
    elif arm == "variable_packed_struct":
        yield from _row_facts(encoding, version)
    elif arm == "fixed_size_list":
        yield from _list_facts(encoding, version)
    else:
        yield from _wrapping_facts(encoding, arm, place, version)


def _wrapping_facts(
    encoding: CompressiveEncoding, arm: str, place: str, version: str
) -> Iterator[Fact]:
    """Yield the facts of the arms that wrap another encoding."""
    if arm == "rle":
        yield "run value bits", str(value_bits(encoding.rle.values))
        yield "run length bits", str(value_bits(encoding.rle.run_lengths))
        if version == "2.3":
            yield from codec_facts(encoding.rle.values, "run values", version)
            yield from codec_facts(encoding.rle.run_lengths, "run lengths", version)
    elif arm == "byte_stream_split":
        yield "byte stream split bits", str(value_bits(encoding))
    elif arm == "fsst":
        header = int.from_bytes(encoding.fsst.symbol_table[:8], "little")
        yield "fsst symbol table", "on" if header & FSST_SWITCH else "off"
    elif arm == "general":
        compression = encoding.general.compression
        scheme = _SCHEMES.get(compression.scheme, "none")
        level = " at a level" if compression.HasField("level") else ""
        yield "general compression", scheme + level
        yield from codec_facts(encoding.general.values, f"compressed {place}", version)


def _sequence_facts(
    encoding: CompressiveEncoding, arm: str, place: str, version: str
) -> Iterator[Fact]:
    if arm == "dictionary":
        yield from codec_facts(encoding.dictionary.indices, "indices", version)
        yield from codec_facts(encoding.dictionary.items, f"items of {place}", version)
    elif arm == "constant":
        yield "constant bytes", str(len(encoding.constant.value))
    else:
        yield f"{arm} bits", str(value_bits(encoding))
        if arm == "delta":
            yield from codec_facts(encoding.delta.deltas, "deltas", version)


def _row_facts(encoding: CompressiveEncoding, version: str) -> Iterator[Fact]:
    for field in encoding.variable_packed_struct.fields:
        variable = field.WhichOneof("layout") == "bits_per_length"
        if variable:
            yield "packed field length bits", str(field.bits_per_length)
        else:
            yield "packed field bits", str(field.bits_per_value)
        place = f"packed fields of {'variable' if variable else 'fixed'} width"
        yield from codec_facts(field.value, place, version)


def _list_facts(encoding: CompressiveEncoding, version: str) -> Iterator[Fact]:
    depth, inner = 0, encoding
    while inner.WhichOneof("compression") == "fixed_size_list":
        depth, inner = depth + 1, inner.fixed_size_list.values
    yield "depth of fixed-size lists", str(depth)
    yield from codec_facts(encoding.fixed_size_list.values, "list items", version)
