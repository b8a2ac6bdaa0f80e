"""Cases of posting blocks whose numbers have more bits than they need.

The oracle makes the index; blocks of some words are written anew, with other widths: the documents
and how often they hold a word stay what they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.index.full_text.packed_integers import pack_rows, unpack
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from lance_conformance.recipes.change import apply
from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import DATA, Made, Negative, Positive
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables.faults_indices import fault, values
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_text import match, text_case

_LAST = "_versions/18446744073709551613.manifest"
_POSTINGS = "part_0_invert.lance"
_ROWS = 640
_HEAD = 4
"""Bytes of the highest score."""

LANES = 8
"""Lanes of a group of 256."""

Held = Mapping[int, int]
"""How often documents hold a word."""


def _counted(steps: Sequence[int], others: Held, often: int = 1) -> dict[int, int]:
    """Return documents by the steps between them; `others` says by place who holds more words."""
    return {row: others.get(at, often) for at, row in enumerate(accumulate(steps))}


def _steps(usual: int, others: Held, count: int = 128) -> list[int]:
    return [0, *(others.get(at, usual) for at in range(1, count))]


_WORDS: dict[str, tuple[dict[int, int], list[tuple[int, int]]]] = {
    "far": (_counted(_steps(5, {96: 1, 100: 1}), {122: 3}), [(4, 16)]),
    "gap": (_counted(_steps(1, {8: 23}), {}), [(16, 8)]),
    "low": (_counted(_steps(1, {}, 256), {}), [(1, 8), (1, 1)]),
    "mid": (_counted(_steps(1, {}), {7: 23}), [(32, 24)]),
    "pit": (_counted(_steps(1, {}), {0: 8, 15: 7}, 3), [(4, 8)]),
}
"""Words, how often documents hold them, and the widths of steps and frequencies of each block."""


class _Whole(Indexed):
    """Rows that are all indexed."""

    def __call__(self, module: Any, uri: str) -> None:
        """Make the table and its index."""
        dataset = module.write_dataset(self.table, uri, data_storage_version=self.version)
        dataset.create_scalar_index("c", "INVERTED", **self.parameters)


def rewritten(
    make: Callable[[], Made], name: str, change: Callable[[pa.Table], pa.Table], last: str = _LAST
) -> Callable[[], Made]:
    """Return a maker of the same index with other rows of a file; `last` is the last manifest."""

    def made() -> Made:
        base = make()
        files, _ = apply(index(without_sizes, last), base.files)
        (path,) = (one for one in files if fnmatch(one, f"*/{name}"))
        data = files[path]
        held = open_file(BytesSource(data), Context(name)).global_buffers[1:]
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder, DATA)
            own.write_bytes(data)
            rows = LanceFileReader(own).read_all().to_table()
        said = {key.decode(): text.decode() for key, text in rows.schema.metadata.items()}
        buffers = tuple(data[one.offset : one.end] for one in held)
        table = change(rows.replace_schema_metadata(None))
        written = file(table, "2.0", schema_metadata=said, global_buffers=buffers)
        return Made({**files, path: written().files[DATA]}, base.table, made_by="hand")

    return made


def _group(numbers: Sequence[int], width: int) -> bytes:
    return bytes([width]) + pack_rows(np.array([numbers], np.uint32), width).tobytes()


def _wider(blocks: list[bytes], held: Held, widths: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the blocks of a word with other widths."""
    rows = sorted(held)
    out = []
    for at, (block, (of_steps, of_counts)) in enumerate(zip(blocks, widths, strict=True)):
        own = rows[128 * at : 128 * at + 128]
        steps = np.diff(own, prepend=own[0]).tolist()
        counts = [held[row] for row in own]
        head = block[: _HEAD + 4]
        out.append(head + _group(steps, of_steps) + _group(counts, of_counts))
    return out


def _replaced(table: pa.Table, blocks: list[list[bytes]]) -> pa.Table:
    at = table.schema.get_field_index("_posting")
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(blocks, field.type))


def _with_widths(table: pa.Table) -> pa.Table:
    """Write the blocks of every word anew; words are numbered as they first appear."""
    blocks = table["_posting"].to_pylist()
    for number, (held, widths) in enumerate(_WORDS.values()):
        assert table["_length"][number].as_py() == len(held)
        blocks[number] = _wider(blocks[number], held, widths)
    return _replaced(table, blocks)


def _texts() -> dict[int, list[str]]:
    """Return the words of every row, `rest` in those that hold no other."""
    found: dict[int, list[str]] = {row: [] for row in range(_ROWS)}
    for word, (held, _) in _WORDS.items():
        for row, often in held.items():
            found[row] += [word] * often
    return {row: words or ["rest"] for row, words in found.items()}


def _widths() -> Positive:
    documents = _texts()
    rows = [row for row, words in documents.items() if words != ["rest"]]
    found = dict.fromkeys(rows, 0.0)
    for word in _WORDS:
        own = [row for row in rows if word in documents[row]]
        for row, score in scores(documents, [word], own, _ROWS).items():
            found[row] += score
    texts = pa.array([" ".join(words) for words in documents.values()])
    table = _Whole(texts, "INVERTED", {"stem": False}, "2.0")
    asked = match(" ".join(_WORDS))
    case = text_case("wide-blocks", "blocks whose numbers have more bits than they need", asked,
                     found, table, ("L.index.fts.posting.width",))  # fmt: skip
    make = rewritten(case.make, _POSTINGS, _with_widths)
    return replace(case, make=make, reachable=False)


def _wide_steps(table: pa.Table) -> pa.Table:
    """Write the steps of the word in 256 documents with 32 bits each."""
    blocks, word = table["_posting"].to_pylist(), table["_length"].to_pylist().index(256)
    (block,) = blocks[word]
    end = 5 + LANES * 4 * block[4]
    steps = unpack(memoryview(block)[5:end], block[4], LANES)
    blocks[word] = [block[:4] + _group(steps.tolist(), 32) + block[end:]]
    return _replaced(table, blocks)


def _later() -> Positive:
    """The first of 256 documents is not the first of all."""
    documents = {row: ["far"] if 5 <= row < 261 else ["rest"] for row in range(270)}
    found = scores(documents, ["far"], range(5, 261), len(documents))
    table = _Whole(pa.array([one for (one,) in documents.values()]), "INVERTED",
                   {"stem": False, "block_size": 256}, "2.0")  # fmt: skip
    case = text_case("wide-256", "a block that begins later, whose steps have 32 bits",
                     match("far"), found, table, ("L.index.fts.posting.width",))  # fmt: skip
    return replace(case, make=rewritten(case.make, _POSTINGS, _wide_steps), reachable=False)


def _even() -> Positive:
    """A document holds a word so often that its positions are one packed group."""
    documents = {0: ["far"] * 128, **{row: ["rest"] for row in range(1, 12)}}
    table = _Whole(pa.array([" ".join(one) for one in documents.values()]), "INVERTED",
                   {"stem": False, "format_version": 1, "with_position": True}, "2.0")  # fmt: skip
    return text_case("format-1-even", "positions of the first format that fill a group",
                     match("far"),
                     scores(documents, ["far"], [0], len(documents)), table,
                     ("L.index.fts.positions.end",))  # fmt: skip


POSITIVES: tuple[Positive, ...] = (_widths(), _later(), _even())
"""Every positive case of posting blocks."""

_WIDE = "inverted/wide-blocks"

NEGATIVES: tuple[Negative, ...] = (
    fault(_WIDE, "width", "steps of 33 bits in as many bytes as before",
          "L.index.fts.posting.width", values(_POSTINGS, "_posting", b"\x21", 928, "bytes")),
    fault(_WIDE, "longer", "a byte between a width and the end of a block",
          "L.index.fts.posting.end", values(_POSTINGS, "_posting", b"\xed", 40, "string ends")),
    fault(_WIDE, "documents", "documents that do not fit into 32 bits",
          "L.index.fts.posting.documents",
          values(_POSTINGS, "_posting", b"\xff\xff\xff\xff\x10\x01", 334, "bytes")),
)  # fmt: skip
"""Every fault of them."""
