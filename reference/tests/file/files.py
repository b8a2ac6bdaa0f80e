"""A whole 2.0 file by hand: the 348-byte worked example of the container chapter.

Column `a` int32 [1, null, 3]: a validity bitmap at 0, the values at 64, the descriptor at 128, one
column metadata at 159, the tables at 276 and 292, the footer at 308.
"""

DESCRIPTOR = bytes.fromhex(
    "0a1b 0a19 1201 61 20 ffffffffffffffffff01 2a05 696e743332 3001 3801 1003".replace(" ", "")
)
COLUMN = (
    bytes.fromhex("0a2912270a250a1f")
    + b"/lance.encodings.ColumnEncoding"
    + bytes.fromhex("12020a00 12480a020040 1202010c 1803 223c123a0a38 0a1e".replace(" ", ""))
    + b"/lance.encodings.ArrayEncoding"
    + bytes.fromhex("1216 1214 1212 0a060a0408011200 1208 0a0608201202 0801".replace(" ", ""))
)


def u64(*values: int) -> bytes:
    """Little-endian words of eight bytes."""
    return b"".join(value.to_bytes(8, "little") for value in values)


WORKED_FILE = (
    b"\x05"
    + b"H" * 63
    + bytes.fromhex("010000000000000003000000")
    + b"H" * 52
    + DESCRIPTOR
    + COLUMN
    + u64(159, 117)
    + u64(128, 31)
    + u64(159, 276, 292)
    + bytes.fromhex("01000000 01000000 0000 0300".replace(" ", ""))
    + b"LANC"
)


def closed(data: bytes, globals_: list[bytes], columns: list[bytes]) -> bytes:
    """Close a 2.0 file over its buffers: global buffers, column metadata, tables, footer."""
    out, entries = data, []
    for number, part in enumerate([*globals_, *columns]):
        padding = b"H" * (-len(out) % 64 if 0 < number < len(globals_) else 0)
        entries.append((len(out) + len(padding), len(part)))
        out += padding + part
    first, cmo = entries[len(globals_)][0], len(out)
    gbo = cmo + 16 * len(columns)
    for entry in [*entries[len(globals_) :], *entries[: len(globals_)]]:
        out += u64(*entry)
    counts = len(globals_).to_bytes(4, "little") + len(columns).to_bytes(4, "little")
    return out + u64(first, cmo, gbo) + counts + bytes.fromhex("00000300") + b"LANC"
