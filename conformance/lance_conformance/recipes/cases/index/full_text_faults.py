"""Faults of full-text indices: tokens, postings, documents, parameters.

Nodes of a token dictionary are read from their end, and hardly a byte of them has a name: a fault
is looked for, byte by byte, until a dictionary whose checksum is right shows what is wanted.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator

import pyroaring
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.index.full_text.fst import FOOTER_BYTES, HEADER_BYTES, Fst, checksum, parse_fst
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_details_pb2 import InvertedIndexDetails

from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import POSTINGS, nulls, values
from lance_conformance.recipes.constructors import Clauses, fault, faults, lint
from lance_conformance.recipes.edits import FOURTH, THIRD, descriptor, index, inside, set_byte
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.model import MessageEdit, Recipe, Remove, SpanPatch

CHECKSUM_BYTES = 4
"""What a dictionary ends with."""


def sealed(data: bytes) -> bytes:
    """Return a dictionary with the checksum of its bytes."""
    body = data[:-CHECKSUM_BYTES]
    return body + checksum(body).to_bytes(CHECKSUM_BYTES, "little")


def opened(data: bytes) -> Fst:
    """Return a dictionary. Raises FormatError."""
    return parse_fst(Cursor(memoryview(data), 0, Context("dictionary")))


def _neighbours(data: bytes) -> Iterator[bytes]:
    for at in range(HEADER_BYTES, len(data) - FOOTER_BYTES):
        for new in range(256):
            yield sealed(data[:at] + bytes([new]) + data[at + 1 :])


def refused_by(act: Callable[[], object]) -> str:
    """Return the clause under which something is refused, empty when it is not."""
    try:
        act()
    except FormatError as error:
        return error.clause
    return ""


_INVERT = "invert.lance"


def _dictionary(edit: Callable[[bytes], bytes]) -> SpanPatch:
    target = "_indices/*/part_0_tokens.lance"
    return SpanPatch(("field _token_fst_bytes", "bytes"), edit, target=target)


def _byte(at: int, new: int) -> Callable[[bytes], bytes]:
    """Return the edit that writes one byte and corrects the checksum."""
    return lambda data: sealed(set_byte(at, new)(data))


def _block(at: int, new: bytes) -> SpanPatch:
    """Write over bytes of the blocks; `quick`, the first, is in documents 0, 1 and 4."""
    return values(POSTINGS, "_posting", new, at, "bytes")


_METADATA = "metadata.lance"


def _sought(is_wanted: Callable[[Fst], bool]) -> Callable[[bytes], bytes]:
    """Return what finds the first dictionary with one other byte in its nodes that is wanted."""
    return lambda data: next(one for one in _neighbours(data) if is_wanted(opened(one)))


def _refused(clause: str) -> Callable[[Fst], bool]:
    """Return whether looking `quick` up breaks a clause, and so does a walk over all."""

    def is_wanted(fst: Fst) -> bool:
        looked = refused_by(lambda: fst.get(b"quick"))
        return looked == clause == refused_by(lambda: list(fst.items()))

    return is_wanted


def _other_number(fst: Fst) -> bool:
    """Return whether `quick` has a number that no postings have."""
    if refused_by(lambda: list(fst.items())):
        return False
    return (fst.get(b"quick") or 0) >= fst.count


def _other_count(fst: Fst) -> bool:
    """Return whether more or less tokens are there, among them the words of the query."""
    found: list[tuple[bytes, int]] = []
    clause = refused_by(lambda: found.extend(fst.items()))
    if clause != "L.index.fts.fst.count" or (fst.get(b"quick"), fst.get(b"fox")) != (0, 2):
        return False
    return all((token.isascii() and number < fst.count for token, number in found))


def _said(**changed: object) -> MessageEdit:
    """Change parameters, in as many bytes; what is null, or what it is by itself, is left out."""

    def edit(message: FileDescriptor) -> None:
        old = message.schema.metadata["params"]
        settings = {**json.loads(old), **changed}
        present = {name: value for name, value in settings.items() if value is not None}
        del present["prefix_only"]
        new = json.dumps(present, separators=(",", ":")).encode()
        message.schema.metadata["params"] = new.ljust(len(old))

    return descriptor(edit, "_indices/*/metadata.lance")


def _has_dead_end(fst: Fst) -> bool:
    """Return whether a way ends at no token; `mill` is looked up without meeting it."""
    met: list[bool] = []

    def walk() -> None:
        pending = [fst.root]
        while pending:
            node = fst.node(pending.pop())
            met.append(not node.final and (not node.ways))
            pending += [target for _, _, target in node.ways]

    return not refused_by(walk) and any(met) and (fst.get(b"mill") == 3)


def _exceptions(*, long: int, short: int, first: bytes = b"") -> bytes:
    """Return exceptions of six bytes and of two; the first one may be given."""
    numbers = [first or b"\x80\x80\x80\x80\x01", *[b"\x80\x80\x80\x80\x01"] * (long - 1)]
    numbers += [b"\x01"] * short
    return b"".join((bytes([200 - place]) + one for place, one in enumerate(numbers)))


def _patched(width: int, exceptions: bytes, count: int) -> SpanPatch:
    new = bytes([width, count]) + b"\xff" * (32 * width) + exceptions
    return _block(37, new)


_PARAMETERS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("params-tokenizer", "a tokenizer that none knows", {"base_tokenizer": "complex"}),
    ("params-language", "a language that none knows", {"language": "Klingon"}),
    ("params-stem", "a word where true or false belongs", {"stem": "yes"}),
    ("params-length", "a token of true letters at most", {"max_token_length": True}),
    ("params-negative", "a token of -1 letters at most", {"max_token_length": -1}),
    ("params-words", "stop words that are numbers", {"custom_stop_words": [1]}),
    ("params-word", "one stop word in place of a list", {"custom_stop_words": "the"}),
    ("params-ngram-none", "n-grams of no letters",
        {"base_tokenizer": "ngram", "min_ngram_length": 0}),
    ("params-ngram-falls", "n-grams of five to three letters",
        {"base_tokenizer": "ngram", "min_ngram_length": 5}),
)  # fmt: skip
"""Slug, title, and parameters that none can be."""

_TOLD: tuple[tuple[str, str, dict[str, object], Clauses], ...] = (
    ("whitespace", "texts that are cut at more than blanks", {"base_tokenizer": "whitespace"},
        "L.index.fts.tokenizer.whitespace"),
    ("raw", "texts that are cut", {"base_tokenizer": "raw"}, "L.index.fts.tokenizer.raw"),
    ("ngram", "words in place of runs of letters", {"base_tokenizer": "ngram"},
        "L.index.fts.tokenizer.ngram"),
    ("code", "names that are cut elsewhere", {"base_tokenizer": "code"},
        "L.index.fts.tokenizer.code"),
    ("icu", "words that end elsewhere, and one that is to be dropped", {"base_tokenizer": "icu"},
        ("L.index.fts.tokenizer.icu", "L.index.fts.stop-words.icu")),
    ("length", "a token that is too long", {"max_token_length": 5}, "L.index.fts.analyzer.length"),
    ("order", "tokens that were made stems", {"stem": False}, "L.index.fts.analyzer.order"),
    ("stop-words", "a word that is to be dropped", {"custom_stop_words": ["fox"]},
        "L.index.fts.stop-words"),
    ("folding", "letters that were brought to ASCII", {"ascii_folding": False},
        "L.index.fts.folding"),
)  # fmt: skip
"""Slug, title, parameters that the tokens do not follow, and the clause of each."""

_SAID_OF_ALL = (
    ("params-list", "parameters that are a list", "fts.params", "params", "[]"),
    ("partition-text", "partitions that are words", "fts.partitions", "partitions", '["0"]'),
    ("partition-negative", "a partition of number -1", "segment.files", "partitions", "[-1]"),
    ("token-set-word", "a set of tokens of no known kind", "fts.token-set-format",
        "token_set_format", "bst"),
    ("format-zero", "format 0", "fts.format-version", "format_version", "0"),
    ("total-word", "a number of tokens that is a word", "files.metadata", "total_tokens", "many"),
    ("total-more", "one token more than documents have", "fts.total-tokens", "total_tokens", "22"),
    ("partitions", "partitions that are no list", "fts.partitions", "partitions", "{}"),
    ("partition", "a partition without files", "segment.files", "partitions", "[7]"),
    ("params", "parameters that are no JSON", "fts.params", "params", "["),
    ("format", "a format that nobody knows", "fts.format-version", "format_version", "9"),
    ("block-size", "blocks of 127", "fts.block-size", "posting_block_size", "127"),
    ("token-set", "a dictionary of an unknown kind", "fts.token-set-format", "token_set_format",
        "zip"),
    ("total", "another number of tokens in all documents", "fts.total-tokens", "total_tokens",
        "99"),
)  # fmt: skip
"""Slug, title, clause, an entry of the metadata, and a text that it cannot have."""

CASES: tuple[Recipe, ...] = (
    *faults("index/any/inverted/early",
        fault("frequency-none", "a document that does not hold its token",
            "L.index.fts.early.documents", values(_INVERT, "_frequency", struct.pack("<f", 0.5))),
        fault("frequency-far", "a token 2**32 times in a document", "L.index.fts.early.documents",
            values(_INVERT, "_frequency", struct.pack("<f", 2.0 ** 32))),
        fault("row-twice", "a row that is two documents", "L.index.fts.early.documents",
            values("docs.lance", "_rowid", words(1), 0)),
        fault("unknown", "a document that is not among the documents",
            "L.index.fts.early.documents", values(_INVERT, "_rowid", words(2), 0)),
        lint("positions", "a position less than the frequency says", "L.index.fts.early.documents",
            values(_INVERT, "_frequency", struct.pack("<f", 2.0), 68)),
        lint("twice", "a document that occurs twice for a token", "L.index.fts.early.documents",
            values(_INVERT, "_rowid", words(3, 1 << 32 | 1), 112)),
        fault("offsets", "tokens that begin nowhere", "L.index.fts.early.offsets",
            index_files.metadata("invert.lance", "offsets", "{}")),
        fault("documents", "a row that is no document", "L.index.fts.early.documents",
            values("invert.lance", "_rowid", b"c"))),
    *faults("index/any/inverted/plain", fault("tokens-next",
            "one token more than there are postings", "L.index.fts.tokens",
            _dictionary(lambda data: sealed(data[:-20] + words(9) + data[-12:]))),
        fault("length-next", "a token in one document more than there are",
            "L.index.fts.posting.blocks", values("part_0_invert.lance", "_length", b"\t")),
        fault("varint-next", "the number 2**32", "L.index.fts.varint",
            _block(4, b"\x80\x80\x80\x80\x10")),
        fault("document-next", "the number one after the last document",
            "L.index.fts.posting.documents", _block(6, b"\x07")),
        *(fault(slug, title, "L.index.fts.params",
                index_files.json_members(_METADATA, "params", **changed)) for slug, title,
            changed in _PARAMETERS),
        *(fault(slug, title, f"L.index.{clause}", index_files.metadata(
                    "part_0_docs.lance" if key == "total_tokens" else _METADATA, key, text))
            for slug, title, clause, key, text in _SAID_OF_ALL),
        fault("version",
            "a dictionary of version 2", "L.index.fts.fst.version", _dictionary(_byte(0, 2))),
        fault("checksum", "a dictionary whose checksum is not its own", "L.index.fts.fst.checksum",
            _dictionary(lambda data: data[:-1] + bytes([data[-1] ^ 0xFF]))),
        lint("count", "a dictionary that holds another number of tokens than it says",
            "L.index.fts.fst.count", _dictionary(_sought(_other_count))),
        fault("first-node", "a first node after the dictionary", "L.index.fts.fst.target",
            _dictionary(_byte(-10, 1))), fault("target", "a way that leads forward",
            "L.index.fts.fst.target", _dictionary(_sought(_refused("L.index.fts.fst.target")))),
        fault("node", "a node that begins in the header", "L.index.fts.fst.node",
            _dictionary(_sought(_refused("L.index.fts.fst.node")))),
        fault("number", "a token whose number no postings have", "L.index.fts.tokens",
            _dictionary(_sought(_other_number))),
        fault("number-next", "a token whose number is the first that no postings have",
            "L.index.fts.tokens", _dictionary(
                _sought(lambda fst: _other_number(fst) and fst.get(b"quick") == fst.count))),
        fault("length", "a token in more documents than there are", "L.index.fts.posting.blocks",
            values(POSTINGS, "_length", b"\xc8")), fault("documents",
            "a document that occurs twice", "L.index.fts.posting.documents", _block(5, b"\x00")),
        fault("frequency", "a document that does not hold the token",
            "L.index.fts.posting.frequency", _block(7, b"\x00")),
        fault("end", "bytes after the last frequency", "L.index.fts.posting.end",
            values(POSTINGS, "_length", b"\x02")), fault("varint", "a number of more than 32 bits",
            "L.index.fts.varint", _block(4, b"\xff" * 6)),
        lint("impacts", "impacts of one block less than the token has", "L.index.fts.impacts.count",
            values(POSTINGS, "_impacts", b"\x01", 0, "list ends")),
        lint("pairs", "an impact of another document length", "L.index.fts.impacts.pairs",
            values(POSTINGS, "_impacts", b"\x7f", 3, "bytes")),
        fault("offset", "positions that do not begin at the start", "L.index.fts.positions.offsets",
            values(POSTINGS, "_position_block_offset", b"\x01")),
        fault("positions", "a position more than the frequencies say", "L.index.fts.positions.end",
            _block(8, b"\x01")), fault("no-metadata", "the file that tells of the index is missing",
            "L.index.segment.files", Remove("_indices/*/metadata.lance"))),
    *faults("index/any/inverted/format-1-even", lint("positions-more",
            "positions of one document more than hold the word", "L.index.fts.positions.offsets",
            values("part_0_invert.lance", "_position", b"\x02", leaf="list ends")),
        lint("positions-count", "a position less than the document has, by its count",
            "L.index.fts.positions.end",
            values("part_0_invert.lance", "_position", b"\x7f", leaf="bytes"))),
    *faults("index/any/inverted/plain-blocks",
        fault("block-same", "a second block that begins with the last document of the first",
            "L.index.fts.posting.documents", _block(78, b"\x7f")),
        fault("width-next", "numbers of 33 bits", "L.index.fts.posting.width", _block(8, b"!")),
        fault("width", "numbers of 40 bits", "L.index.fts.posting.width", _block(8, b"(")),
        lint("width-last", "frequencies of 32 bits, with bytes for two",
            "L.index.fts.posting.width", _block(378, b" "))),
    *faults("index/any/inverted/plain-256", fault("exception-next",
            "one exception more than may be", "L.index.fts.posting.exception", _block(38, b"\x80")),
        fault("exception", "200 frequencies that are patched", "L.index.fts.posting.exception",
            _block(38, b"\xc8")), fault("width-high", "frequencies of 33 bits",
            "L.index.fts.posting.exception", _block(37, b"!")),
        fault("varint-next", "2**32 above a frequency", "L.index.fts.varint",
            _patched(2, _exceptions(long=5, short=2, first=b"\x80\x80\x80\x80\x10"), 7)),
        fault("width-none", "frequencies of no bits, but for some", "L.index.fts.posting.frequency",
            _patched(0, _exceptions(long=12, short=13), 25))),
    *faults("index/any/inverted/texts-raw",
        lint("simple", "texts that are not cut into words", "L.index.segment.complete",
            _said(base_tokenizer="simple"), also="L.index.fts.tokenizer.simple"),
        lint("empty", "a document without a token", "L.index.segment.complete",
            _said(max_token_length=3), also="L.index.fts.documents.empty")),
    *faults("index/any/inverted/texts",
        *(lint(slug, title, "L.index.segment.complete", _said(**changed), also=also) for slug,
            title, changed, also in _TOLD),
        lint("position", "a token that stands elsewhere", "L.index.segment.complete",
            values("part_0_invert.lance", "_compressed_position", b"\x05", 2, "bytes"),
            also="L.index.fts.analyzer.position")),
    *faults("index/any/inverted/texts-json",
        lint("json", "members that are tokens of a text", "L.index.segment.complete",
            _said(lance_tokenizer="text"), also="L.index.fts.documents.json")),
    *faults("index/any/inverted/texts-lists", lint("list", "lists that are one document each",
            "L.index.segment.complete", index({"index_details.value": inside(InvertedIndexDetails,
                        {"document_granularity": InvertedIndexDetails.LIST_ELEMENT})}, FOURTH),
            also="L.index.fts.documents.list")),
    *faults("index/any/inverted/nested-elements",
        fault("levels", "documents without their places in the inner list", "L.index.fts.docs",
            descriptor({"schema.fields.3.name": "_doc_index_2"}, "_indices/*/part_0_docs.lance"))),
    *faults("index/any/inverted/nullable",
        fault("deleted", "null in place of the fragments that are gone",
            "L.index.fts.deleted-fragments", nulls("metadata.lance", 0))),
    *faults("index/any/inverted/nullable-lengths",
        fault("none", "null in place of how many documents hold a token", "L.index.fts.postings",
            nulls(POSTINGS, 3))),
    *faults("index/any/inverted/wide-blocks",
        fault("width", "steps of 33 bits in as many bytes as before", "L.index.fts.posting.width",
            _block(928, b"!")), fault("longer", "a byte between a width and the end of a block",
            "L.index.fts.posting.end", values(POSTINGS, "_posting", b"\xed", 40, "string ends")),
        fault("documents", "documents that do not fit into 32 bits",
            "L.index.fts.posting.documents", _block(334, b"\xff\xff\xff\xff\x10\x01"))),
    *faults("index/any/inverted/longer-first", lint("dead-end", "letters that lead to no token",
            "L.index.fts.fst.node", _dictionary(_sought(_has_dead_end)))),
    *faults("index/any/inverted/early-once",
        lint("positions", "null in place of the one position of each",
            "L.index.fts.early.documents", nulls("invert.lance", 3))),
    *faults("index/any/inverted/of-no-rows",
        lint("covered", "an index of no rows that is to cover some", "L.index.segment.complete",
            index({"fragment_bitmap": pyroaring.BitMap([1]).serialize()}, THIRD))),
    *index_files.damaged("inverted"),
)  # fmt: skip
