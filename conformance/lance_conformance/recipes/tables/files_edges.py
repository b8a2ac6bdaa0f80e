"""Positive cases of files at the edge: numbers that are just allowed, and reads of nothing.

A reader that is off by one in its checks refuses them, or finds a row where there is none.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from lanceref import write_file
from lanceref.proto.encodings_v2_1_pb2 import PageLayout

from lance_conformance.recipes import blocks
from lance_conformance.recipes.hand import words
from lance_conformance.recipes.messages import page
from lance_conformance.recipes.model import DATA, Made, Negative, Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.pages import NULLABLE, Chunk, chunked, zipped
from lance_conformance.recipes.tables import files_arms
from lance_conformance.recipes.tables.edits import byte, fault, spare_buffer

_NESTED = pa.table(
    {
        "lists": pa.array([[1, 2], None, [3]], pa.list_(pa.int32())),
        "texts": pa.array(["a", None, "c"]),
        "numbers": pa.array([1, None, 3], pa.int32()),
        "vectors": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)),
        "keys": pa.array(["x", "y", "x"]).dictionary_encode(),
        "structs": pa.array([{"a": 1, "b": [True]}, {"a": 2, "b": []}, {"a": 3, "b": None}]),
        "flags": pa.array([True, None, False]),
    }
)


def _no_rows(version: str) -> Positive:
    """Return the case of a file with a column of each kind, of which no row is asked for."""

    def make() -> Made:
        return Made(file(_NESTED, version)().files, _NESTED.slice(0, 0))

    return Positive(
        id=f"file/{version}/pages/no-rows",
        title="a take of no rows, from a column of each kind",
        clauses=("L.file.pages.length",),
        make=make,
        version=version,
        args={"rows": []},
    )


def _case(
    version: str, slug: str, title: str, array: pa.Array, clause: str, **knobs: str
) -> Positive:
    return Positive(
        id=f"file/{version}/{slug}",
        title=title,
        clauses=(clause,),
        make=file(column(array, **knobs), version),
        version=version,
    )


_LIST = 2
"""Code of lists that are neither null nor empty."""


def _pairs_in_lists() -> Positive:
    """Entries of null and empty lists are repeated like all else, which 14.0.2 cannot write."""
    pair = pa.list_(pa.struct([("x", pa.int8())]), 2)
    lists = [[[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]], [], None]
    table = column(pa.array(lists, pa.list_(pair)))

    def make() -> Made:
        with TemporaryDirectory() as folder:
            write_file(Path(folder, "data.lance"), table, "2.2")
            return Made({DATA: Path(folder, "data.lance").read_bytes()}, table, "reference")

    return Positive(
        id="file/2.2/levels/list-pairs-empty",
        title="lists of pairs, an empty and a null one: two entries each",
        clauses=("L.page.levels.fsl-group", "L.page.levels.rows"),
        make=make,
        version="2.2",
        reachable=False,
    )


def _control() -> Positive:
    entries = [words(rep << 8 | def_, value, width=2) for rep, def_, value in
               ((1, 0, 7), (0, 1, 0), (1, 0, 9))]  # fmt: skip
    control = zipped("2.1", blocks.flat([0], 16)[0], entries, layers=(NULLABLE, _LIST), bits=(8, 8),
                  value_bits=16, rows=(0, 2), index_width=1)  # fmt: skip
    return files_arms.case("control-two", "control words of two bytes, for 16 bits of levels",
                           "2.1", pa.array([[7, None], [9]], pa.list_(pa.int16())), [control],
                           "L.page.fullzip.control-word")  # fmt: skip


_KEYS = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1], pa.int8()), ["a", "b", "c"])


def _wide_keys(bits: int) -> Positive:
    keys = _KEYS.cast(pa.dictionary(pa.type_for_alias(f"int{bits}"), pa.string()))
    return _case("2.1", f"dictionary/arrow-int{bits}", f"indices of {bits} bits", keys,
                 "L.page.dictionary.index-width")  # fmt: skip


def _small_chunks() -> Positive:
    """Chunks whose booleans end inside of a byte."""
    flags = [True, False, False, True, True, True, False]
    parts = [flags[:2], flags[2:6], flags[6:]]
    chunks = [
        Chunk(len(part), (words(sum(flag << at for at, flag in enumerate(part)), width=1),))
        for part in parts
    ]
    made = chunked("2.1", blocks.flat([0], 8)[0], chunks)
    assert isinstance(made.encoding, PageLayout)
    made.encoding.mini_block_layout.value_compression.flat.bits_per_value = 1
    return files_arms.case("small-chunks", "chunks of two and of four booleans", "2.1",
                           pa.array(flags), [made], "L.page.miniblock.log")  # fmt: skip


def _pairs(values: list[int]) -> pa.Array:
    structs = pa.array([{"a": value} for value in values], pa.struct([("a", pa.int16())]))
    return pa.FixedSizeListArray.from_arrays(structs, 2)


def _two_pages() -> Positive:
    encoding = blocks.flat([0], 16)[0]
    first, second = (
        chunked("2.1", encoding, [Chunk(3, (words(*part, width=2),))])
        for part in ((1, 2, 3), (4, 5, 6))
    )
    pages = [first, replace(second, first_row=3)]
    return files_arms.case("two-pages", "two pages of chunks, one after the other", "2.1",
                           pa.array([1, 2, 3, 4, 5, 6], pa.int16()), pages,
                           "L.file.pages.length")  # fmt: skip


_SIXTEENS = [[at * row % 5 < 2 for at in range(16)] for row in range(1, 5)]


def _nine_flags(message: PageLayout) -> None:
    message.full_zip_layout.value_compression.fixed_size_list.items_per_value = 9


POSITIVES: tuple[Positive, ...] = (
    *(_no_rows(version) for version in ("2.0", "2.1", "2.3")),
    _wide_keys(16),
    _wide_keys(64),
    _small_chunks(),
    _case("2.2", "constant/fixed-size-list-struct", "pairs of structs that are all the same",
          _pairs([5] * 6), "L.page.layout.scale"),
    _case("2.2", "levels/fixed-size-list-struct-chunks", "pairs of structs in several chunks",
          _pairs([at * 7919 % 30011 for at in range(12000)]), "L.page.layout.scale"),
    _case("2.2", "fullzip/fixed-size-list-struct", "pairs of structs, one after the other",
          _pairs([1, 2, 3, 4, 5, 6]), "L.page.layout.scale", structural_encoding="fullzip"),
    _pairs_in_lists(),
    _control(),
    _two_pages(),
    _case("2.1", "fullzip/flags-sixteen", "zipped values of sixteen booleans",
          pa.array(_SIXTEENS, pa.list_(pa.bool_(), 16)), "L.codec.fixed-size-list.whole-bytes",
          structural_encoding="fullzip"),
)  # fmt: skip
"""Every positive case at an edge."""


def _of_bytes(message: PageLayout) -> None:
    message.full_zip_layout.value_compression.flat.bits_per_value = 8


NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.1/container/two-columns", "utf8", "a byte 80 in a text of nothing above it",
          "L.page.leaf.utf8", byte("bytes", at=0, new=0x80)),
    fault("file/2.2/constant/buffer-levels", "spare-buffer", "a fourth buffer",
          "L.page.constant.form", spare_buffer()),
    fault("file/2.1/constant/null-lists", "value", "a third buffer in a 2.1 page: a value",
          "L.page.constant.only-null", spare_buffer()),
    fault("file/2.1/arms/control-two", "level", "a definition level above those of its layers",
          "L.page.levels.def-range", byte("control word", at=0, new=5)),
    fault("file/2.1/fullzip/flags-sixteen", "nine", "zipped values of nine booleans",
          "L.codec.fixed-size-list.whole-bytes", page(_nine_flags)),
    fault("file/2.1/fullzip/list-strings", "flat", "strings whose bytes are called numbers",
          "L.page.leaf.kind", page(_of_bytes)),
)  # fmt: skip
"""Every negative case of files at an edge."""
