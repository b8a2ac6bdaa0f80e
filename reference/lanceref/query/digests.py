"""Functions of bytes: how text spells them, and their digests.

Text stands for its bytes in UTF-8.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import pyarrow as pa

from lanceref.query.casts import Datum
from lanceref.query.text_functions import by_row

DIGESTS = ("md5", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s")
"""Digests that have a name here."""


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _encode(value: str | bytes, spelling: str) -> str:
    """Return bytes as text. Raises ValueError for another spelling."""
    name = spelling.lower()
    if name == "hex":
        return _bytes(value).hex()
    if name not in ("base64", "base64pad"):
        raise ValueError(f"There is no built-in encoding named '{spelling}'")
    text = base64.b64encode(_bytes(value)).decode()
    return text if name == "base64pad" else text.rstrip("=")


def _decode(value: str | bytes, spelling: str) -> bytes:
    """Return the bytes of text; Base64 may be padded. Raises ValueError."""
    name, text = spelling.lower(), _bytes(value)
    if name == "hex":
        return bytes.fromhex(text.decode("ascii"))
    if name not in ("base64", "base64pad"):
        raise ValueError(f"There is no built-in encoding named '{spelling}'")
    plain = text.rstrip(b"=")
    return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)


def _digest(value: str | bytes, name: str) -> bytes:
    """Return the digest of a name. Raises ValueError."""
    if name.lower() not in DIGESTS:
        raise ValueError(f"There is no built-in digest algorithm named '{name}'")
    return hashlib.new(name.lower(), _bytes(value), usedforsecurity=False).digest()


def _named(name: str) -> Callable[..., Datum]:
    return by_row(lambda value: _digest(value, name), pa.binary(), "b")


BYTE_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "decode": by_row(_decode, pa.binary(), "bt"),
    "digest": by_row(_digest, pa.binary(), "bt"),
    "encode": by_row(_encode, pa.utf8(), "bt"),
    **{name: _named(name) for name in ("sha224", "sha256", "sha384", "sha512")},
}
"""Functions by name."""
