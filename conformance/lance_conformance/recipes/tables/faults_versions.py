"""Negative cases of versions: a footer that names another one, and grammar of a later one."""

from __future__ import annotations

from lanceref.proto.encodings_v2_1_pb2 import PageLayout

from lance_conformance.recipes.messages import page
from lance_conformance.recipes.model import Negative, SpanPatch
from lance_conformance.recipes.tables.edits import assign, fault

_PLAIN = "file/2.1/miniblock/plain"
_ZIP = "file/2.1/fullzip/int32"
_STRINGS = "file/2.1/variable/empty"
_RUNS = "file/2.1/rle/int16"
_POINTS = "file/2.1/levels/list-struct"
_NULLS = "file/2.1/constant/levels"
_LARGE = "file/2.2/miniblock/int32"
_SEVEN = "file/2.2/constant/plain"
_PLANAR = "file/2.3/planar/chunked"

_VALUES = "mini_block_layout.value_compression"
_FLAG = ("GrammarOfAnotherVersion",)


def _minor(new: int) -> SpanPatch:
    return SpanPatch(("footer", "minor"), new)


def _delta_offsets(message: PageLayout) -> None:
    offsets = message.mini_block_layout.value_compression.variable.offsets
    offsets.range.uncompressed_bits_per_value = 32
    offsets.range.step = 1


def _packed_runs(message: PageLayout) -> None:
    values = message.mini_block_layout.value_compression.rle.values.out_of_line_bitpacking
    values.uncompressed_bits_per_value = 16
    values.values.flat.bits_per_value = 5


def _runs_of_levels(message: PageLayout) -> None:
    rle = message.mini_block_layout.def_compression.rle
    rle.values.flat.bits_per_value = 16
    rle.run_lengths.flat.bits_per_value = 8


def _variable_rows(message: PageLayout) -> None:
    rows = message.full_zip_layout.value_compression.variable_packed_struct
    field = rows.fields.add(bits_per_value=32)
    field.value.flat.bits_per_value = 32


def _constant_values(message: PageLayout) -> None:
    message.mini_block_layout.value_compression.constant.value = bytes(4)


NEGATIVES: tuple[Negative, ...] = (
    fault(_PLAIN, "as-2-2", "a 2.1 file that says 2.2", "L.page.miniblock.large-chunk",
          _minor(2), flags=_FLAG),
    fault(_LARGE, "as-2-1", "a 2.2 file that says 2.1", "L.page.miniblock.large-chunk",
          _minor(1), flags=_FLAG),
    fault(_SEVEN, "as-2-1", "a constant value of 2.2 in a file that says 2.1",
          "L.page.constant.only-null", _minor(1), flags=_FLAG),
    fault(_SEVEN, "as-2-3", "a 2.2 file that says 2.3", "L.file.pages.type-url", _minor(3),
          stage="metadata", flags=_FLAG),
    fault(_PLANAR, "as-2-2", "a 2.3 file that says 2.2", "L.file.pages.type-url", _minor(2),
          stage="metadata", flags=_FLAG),
    fault(_NULLS, "packed-levels", "levels with a codec in a constant page of 2.1",
          "L.page.constant.only-null",
          assign("constant_layout.def_compression.flat.bits_per_value", 16), flags=_FLAG),
    fault(_STRINGS, "offsets", "offsets of 2.3 in a 2.1 file", "L.codec.encoding.context",
          page(_delta_offsets), flags=_FLAG),
    fault(_RUNS, "packed-values", "packed run values in a 2.1 file", "L.codec.encoding.context",
          page(_packed_runs), flags=_FLAG),
    fault(_POINTS, "levels-runs", "levels in runs in a 2.1 file", "L.codec.encoding.levels",
          page(_runs_of_levels), flags=_FLAG),
    fault(_ZIP, "variable-rows", "packed rows of 2.2 in a 2.1 file", "L.codec.encoding.version",
          page(_variable_rows), flags=_FLAG),
    fault(_PLAIN, "constant", "constant values of 2.3 in a 2.1 file", "L.codec.encoding.version",
          page(_constant_values), flags=_FLAG),
    fault(_LARGE, "range", "a range of 2.3 in a 2.2 file", "L.codec.encoding.version",
          assign(f"{_VALUES}.range.step", 1), flags=_FLAG),
)  # fmt: skip
"""Every negative case of versions."""
