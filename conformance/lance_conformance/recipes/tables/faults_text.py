"""Negative cases of full-text indices: metadata, dictionaries, documents, postings, positions."""

from __future__ import annotations

from collections.abc import Callable

from lanceref.index.full_text.fst import Fst

from lance_conformance.recipes import dictionaries
from lance_conformance.recipes.model import SpanPatch
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, values

_METADATA, _TOKENS = "metadata.lance", "part_0_tokens.lance"
_DOCS, _POSTINGS = "part_0_docs.lance", "part_0_invert.lance"
_PLAIN = "inverted/plain"

_INDEX = (
    fault(_PLAIN, "partitions", "partitions that are no list", "L.index.fts.partitions",
          metadata(_METADATA, "partitions", "{}")),
    fault(_PLAIN, "partition", "a partition without files", "L.index.segment.files",
          metadata(_METADATA, "partitions", "[7]")),
    fault(_PLAIN, "params", "parameters that are no JSON", "L.index.fts.params",
          metadata(_METADATA, "params", "[")),
    fault(_PLAIN, "format", "a format that nobody knows", "L.index.fts.format-version",
          metadata(_METADATA, "format_version", "9")),
    fault(_PLAIN, "block-size", "blocks of 127", "L.index.fts.block-size",
          metadata(_METADATA, "posting_block_size", "127")),
    fault(_PLAIN, "token-set", "a dictionary of an unknown kind", "L.index.fts.token-set-format",
          metadata(_METADATA, "token_set_format", "zip")),
    fault(_PLAIN, "total", "another number of tokens in all documents",
          "L.index.fts.total-tokens", metadata(_DOCS, "total_tokens", "99")),
)  # fmt: skip


def _dictionary(edit: Callable[[bytes], bytes]) -> SpanPatch:
    return SpanPatch(("field _token_fst_bytes", "bytes"), edit, target=f"_indices/*/{_TOKENS}")


def _byte(at: int, octet: int) -> Callable[[bytes], bytes]:
    """Return the edit that writes one byte and corrects the checksum."""

    def edit(data: bytes) -> bytes:
        at_ = at % len(data)
        return dictionaries.sealed(data[:at_] + bytes([octet]) + data[at_ + 1 :])

    return edit


def _wrong_checksum(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 0xFF])


def _sought(is_wanted: Callable[[Fst], bool]) -> Callable[[bytes], bytes]:
    return lambda data: dictionaries.changed(data, is_wanted)


def _refused(clause: str) -> Callable[[Fst], bool]:
    """Return whether looking `quick` up breaks a clause, and so does a walk over all."""

    def is_wanted(fst: Fst) -> bool:
        looked = dictionaries.refused_by(lambda: fst.get(b"quick"))
        return looked == clause == dictionaries.refused_by(lambda: list(fst.items()))

    return is_wanted


def _other_number(fst: Fst) -> bool:
    """Return whether `quick` has a number that no postings have."""
    if dictionaries.refused_by(lambda: list(fst.items())):
        return False
    return (fst.get(b"quick") or 0) >= fst.count


def _other_count(fst: Fst) -> bool:
    """Return whether more or less tokens are there, among them the words of the query."""
    found: list[tuple[bytes, int]] = []
    clause = dictionaries.refused_by(lambda: found.extend(fst.items()))
    if clause != "L.index.fts.fst.count" or (fst.get(b"quick"), fst.get(b"fox")) != (0, 2):
        return False
    return all(token.isascii() and number < fst.count for token, number in found)


_DICTIONARY = (
    fault(_PLAIN, "version", "a dictionary of version 2", "L.index.fts.fst.version",
          _dictionary(_byte(0, 2))),
    fault(_PLAIN, "checksum", "a dictionary whose checksum is not its own",
          "L.index.fts.fst.checksum", _dictionary(_wrong_checksum)),
    lint(_PLAIN, "count", "a dictionary that holds another number of tokens than it says",
         "L.index.fts.fst.count", _dictionary(_sought(_other_count))),
    fault(_PLAIN, "first-node", "a first node after the dictionary", "L.index.fts.fst.target",
          _dictionary(_byte(-10, 1))),
    fault(_PLAIN, "target", "a way that leads forward", "L.index.fts.fst.target",
          _dictionary(_sought(_refused("L.index.fts.fst.target")))),
    fault(_PLAIN, "node", "a node that begins in the header", "L.index.fts.fst.node",
          _dictionary(_sought(_refused("L.index.fts.fst.node")))),
    fault(_PLAIN, "number", "a token whose number no postings have", "L.index.fts.tokens",
          _dictionary(_sought(_other_number))),
)  # fmt: skip


def _block(at: int, new: bytes) -> SpanPatch:
    """Write over bytes of the blocks; `quick`, the first, is in documents 0, 1 and 4."""
    return values(_POSTINGS, "_posting", new, at, "bytes")


_BLOCKS = (
    fault(_PLAIN, "length", "a token in more documents than there are",
          "L.index.fts.posting.blocks", values(_POSTINGS, "_length", b"\xc8")),
    fault(_PLAIN, "documents", "a document that occurs twice", "L.index.fts.posting.documents",
          _block(5, b"\0")),
    fault(_PLAIN, "frequency", "a document that does not hold the token",
          "L.index.fts.posting.frequency", _block(7, b"\0")),
    fault(_PLAIN, "end", "bytes after the last frequency", "L.index.fts.posting.end",
          values(_POSTINGS, "_length", b"\2")),
    fault(_PLAIN, "varint", "a number of more than 32 bits", "L.index.fts.varint",
          _block(4, b"\xff" * 6)),
    fault("inverted/plain-blocks", "width", "numbers of 40 bits", "L.index.fts.posting.width",
          _block(8, b"\x28")),
    fault("inverted/plain-256", "exception", "200 frequencies that are patched",
          "L.index.fts.posting.exception", _block(38, b"\xc8")),
    lint(_PLAIN, "impacts", "impacts of one block less than the token has",
         "L.index.fts.impacts.count", values(_POSTINGS, "_impacts", b"\1", 0, "list ends")),
    lint(_PLAIN, "pairs", "an impact of another document length", "L.index.fts.impacts.pairs",
         values(_POSTINGS, "_impacts", b"\x7f", 3, "bytes")),
)  # fmt: skip

_POSITIONS = (
    fault(_PLAIN, "offset", "positions that do not begin at the start",
          "L.index.fts.positions.offsets",
          values(_POSTINGS, "_position_block_offset", b"\1")),
    fault(_PLAIN, "positions", "a position more than the frequencies say",
          "L.index.fts.positions.end", _block(8, b"\1")),
)  # fmt: skip

NEGATIVES = (*_INDEX, *_DICTIONARY, *_BLOCKS, *_POSITIONS)
