"""Short spellings of encoding messages."""

from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_LZ4,
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
)

CE = CompressiveEncoding


def flat(bits: int) -> CE:
    """Values of `bits` bits as they are."""
    return CE(flat={"bits_per_value": bits})


def variable(offsets: int | CE = 32) -> CE:
    """Byte strings; offsets flat of a width, or as given."""
    return CE(variable={"offsets": flat(offsets) if isinstance(offsets, int) else offsets})


def constant(value: int | None = None, bits: int = 64) -> CE:
    """One value again and again, or an empty sequence."""
    if value is None:
        return CE(constant={})
    return CE(constant={"value": value.to_bytes(bits // 8, "little")})


def range_(start: int, step: int, bits: int = 64) -> CE:
    """An arithmetic sequence."""
    return CE(range={"uncompressed_bits_per_value": bits, "start": start, "step": step})


def delta(base: int, deltas: CE, bits: int = 64) -> CE:
    """A base and differences."""
    return CE(delta={"uncompressed_bits_per_value": bits, "base": base, "deltas": deltas})


def out_of_line(bits: int, width: int) -> CE:
    """Bitpacked blocks whose width is in the description."""
    return CE(out_of_line_bitpacking={"uncompressed_bits_per_value": bits, "values": flat(width)})


def inline(bits: int) -> CE:
    """Bitpacked blocks whose width is in front."""
    return CE(inline_bitpacking={"uncompressed_bits_per_value": bits})


def rle(values: CE, lengths: CE) -> CE:
    """Runs."""
    return CE(rle={"values": values, "run_lengths": lengths})


def general(name: str, values: CE) -> CE:
    """A compressed buffer."""
    scheme = {"lz4_raw": COMPRESSION_ALGORITHM_LZ4, "zstd": COMPRESSION_ALGORITHM_ZSTD}[name]
    return CE(general={"compression": {"scheme": scheme}, "values": values})


def dictionary(indices: CE, items: CE, num_items: int) -> CE:
    """Indices and items."""
    return CE(dictionary={"indices": indices, "items": items, "num_dictionary_items": num_items})


def lists(dimension: int, values: CE, has_validity: bool = False) -> CE:
    """Fixed-size lists."""
    parts = {"items_per_value": dimension, "values": values, "has_validity": has_validity}
    return CE(fixed_size_list=parts)


def split(values: CE) -> CE:
    """Byte-stream split."""
    return CE(byte_stream_split={"values": values})


def fsst(table: bytes, values: CE) -> CE:
    """Strings coded by a symbol table."""
    return CE(fsst={"symbol_table": table, "values": values})


def packed_struct(bits: list[int], values: CE) -> CE:
    """Rows of fixed fields."""
    return CE(packed_struct={"bits_per_value": bits, "values": values})
