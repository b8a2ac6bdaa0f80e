"""Cases of data files in corners: the least of a kind, tails after whole blocks, old headers."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.hand import Page, by_hand, fast_lanes, words
from lance_conformance.recipes.messages import field
from lance_conformance.recipes.model import Made, Negative, Positive, Resize, SpanPatch
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.pages import VALID, Chunk, chunked
from lance_conformance.recipes.tables.edits import byte, fault
from lance_conformance.recipes.tables.files_arms import WORDS, case

_PICKS = (3, 0, 2, 2, 1)

_COUNT = 1030
"""Values of a chunk: a whole block, and six after it."""


def _old_header() -> Positive:
    """A dictionary of strings after a header of nine bytes."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = 32
    ends = [sum(map(len, WORDS[:number])) for number in range(len(WORDS) + 1)]
    head = b"\x20" + words(len(WORDS), 9 + 4 * len(ends), width=4)
    items: Block = encoding, head + words(*ends, width=4) + b"".join(WORDS)
    indices = blocks.flat(_PICKS, 8)
    made = chunked("2.1", indices[0], [Chunk(len(_PICKS), (indices[1],))], dictionary=(items, 4))
    values = [WORDS[pick].decode() for pick in _PICKS]
    return case("old-header", "a dictionary of strings with the header of early writers", "2.1",
                pa.array(values), [made], "L.codec.variable.header")  # fmt: skip


def _two_dictionaries() -> Positive:
    """Two pages of chunks, each with items of its own; rows are taken of both."""
    pages, rows = [], []
    for first, items in ((0, [5, 9, 6, 7]), (5, [8, 4, 3, 2])):
        indices = blocks.flat(_PICKS, 8)
        made = chunked("2.1", indices[0], [Chunk(len(_PICKS), (indices[1],))],
                       dictionary=(blocks.flat(items, 64), len(items)))  # fmt: skip
        pages.append(replace(made, first_row=first))
        rows += [items[pick] for pick in _PICKS]
    values = pa.array(rows, pa.uint64())
    made_case = case("two-dictionaries", "rows of two pages that have items of their own", "2.1",
                     values, pages, "L.page.dictionary.num-items")  # fmt: skip
    taken = [1, 4, 5, 8]
    make = made_case.make
    return replace(made_case, args={"rows": taken},
                   make=lambda: replace(make(), table=column(values.take(taken))))  # fmt: skip


def _tail() -> Positive:
    """A block of packed levels, and six after it as they are."""
    levels = [int(at % 13 == 1) for at in range(_COUNT)]
    encoding, _ = blocks.out_of_line(levels[:1024], 16)
    data = fast_lanes(levels[:1024], 16, 1) + words(*levels[1024:], width=2)
    values = [at % 200 for at in range(_COUNT)]
    chunk = Chunk(_COUNT, (words(*values, width=1),), data)
    made = chunked("2.1", blocks.flat([0], 8)[0], [chunk], definition=encoding)
    rows = [None if is_null else at for at, is_null in zip(values, levels, strict=True)]
    return case("tail", "a whole block of packed levels, and six levels after it", "2.1",
                pa.array(rows, pa.uint8()), [made], "L.codec.bitpack.out-of-line")  # fmt: skip


_LEAST = words(0, 0, 0, 0, 0) + words(1, 0, width=4) + words(2, 1, width=2) + b"LANC"
"""A table of one entry, for a descriptor of no bytes, and the footer."""

_BLOB = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})


def _one_blob() -> Positive:
    table = pa.table([pa.array([b"HHH"], pa.large_binary())], schema=pa.schema([_BLOB]))
    return Positive(
        id="file/2.0/blob/one",
        title="a single blob, of bytes that padding has",
        clauses=("L.array.blob.column",),
        make=file(table, "2.0"),
        version="2.0",
    )


def _unequal() -> Positive:
    """Structs of whose two children one has a page, and the other two."""

    def page(first: int, *values: int) -> Page:
        chunk = Chunk(len(values), (words(*values, width=2),))
        made = chunked("2.1", blocks.flat([0], 16)[0], [chunk])
        assert isinstance(made.encoding, PageLayout)
        made.encoding.mini_block_layout.layers.append(cast(RepDefLayer, VALID))
        return replace(made, first_row=first)

    structs = pa.array([{"a": at, "b": 9 - at} for at in range(5)],
                       pa.struct([("a", pa.int16()), ("b", pa.int16())]))  # fmt: skip
    pages = {0: [page(0, 0, 1, 2, 3, 4)], 1: [page(0, 9, 8), page(2, 7, 6, 5)]}
    made = case("unequal", "structs of whose children one has a page, the other two", "2.1",
                structs, [], "L.file.pages.length")  # fmt: skip
    return replace(made, make=by_hand(column(structs), "2.1", pages))


def _fixed_constant() -> Positive:
    array = pa.array([b"forty bytes, which no description holds "] * 3, pa.binary(40))
    return Positive(
        id="file/2.2/constant/buffer-fixed",
        title="one value of forty bytes for every row, in a buffer of its own",
        clauses=("L.page.constant.value-buffer",),
        make=file(column(array), "2.2"),
        version="2.2",
    )


_EMPTY = pa.array(["", "", None])


_PAIRS = pa.list_(pa.struct([_BLOB.with_name("b")]), 2)


def _blob_pairs() -> Positive:
    rows = [[{"b": bytes([65 + at]) * at}, {"b": b"z" * (5 - at)}] for at in range(4)]
    table = pa.table([pa.array(rows, _PAIRS)], schema=pa.schema([pa.field("c", _PAIRS)]))
    return Positive(
        id="file/2.2/blob/pairs",
        title="one row of two blobs each",
        clauses=("L.page.layout.scale", "L.page.blob.payload"),
        make=lambda: Made(file(table, "2.2")().files, table.take([2])),
        version="2.2",
        args={"rows": [2]},
    )


def _no_bytes() -> Positive:
    return Positive(
        id="file/2.0/binary/zstd-empty",
        title="a null after compressed strings of no bytes",
        clauses=("L.array.ends.null-adjustment",),
        make=file(column(_EMPTY, compression="zstd"), "2.0"),
        version="2.0",
    )


def _entries_for_rows(old: bytes) -> bytes:
    """Let no chunk finish a row, and the first leave as many entries as there are rows."""
    return words(0, 3) + bytes(len(old) - 16)


POSITIVES: tuple[Positive, ...] = (
    _unequal(),
    _fixed_constant(),
    _no_bytes(),
    _blob_pairs(),
    _old_header(),
    _tail(),
    _two_dictionaries(),
    _one_blob(),
)
"""Every positive case of a data file in a corner."""


def _further(old: bytes) -> bytes:
    return (int.from_bytes(old, "little") + 8).to_bytes(8, "little")


NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.1/arms/old-header", "gbo-next", "a table that goes on in the footer",
          "L.file.footer.gbo-start", SpanPatch(("footer", "gbo_start"), _further)),
    fault("file/2.3/sparse/chunked", "padding", "a chunk of a sparse page, padded with zeros",
          "L.page.miniblock.padding",
          SpanPatch(("chunk 0", "padding"), lambda old: bytes(len(old))), kind="lint"),
    replace(fault("file/2.1/repindex/long-row", "entries", "entries in place of rows",
                  "L.page.repindex.rows", SpanPatch(("repetition index",), _entries_for_rows))),
    fault("file/2.0/blob/one", "payload", "the first blob, of 2**40 bytes", "L.array.blob.payload",
          byte("field c", "rows", at=13, new=1)),
    fault("file/2.0/dictionary/arrow", "null", "a null item where no row may be null",
          "L.array.nullable.field", field(0, nullable=False)),
    fault("file/2.1/arms/old-header", "least", "nothing but a table, for a descriptor of no bytes",
          "L.file.globals.descriptor", Resize(0, _LEAST)),
    fault("file/2.1/arms/words", "bits", "offsets of 33 bits", "L.codec.variable.header",
          SpanPatch(("header",), lambda old: b"\x21" + old[1:])),
)  # fmt: skip
"""Every fault of a data file in a corner."""
