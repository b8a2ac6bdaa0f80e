"""Anatomy of index files: the structures inside of global buffers and of binary values.

To the container they are bytes. Row sets and treemaps follow each other, each with its length; a
token dictionary fills its value, a message of a vector index its buffer. What does not parse stays
one piece.

Clauses: L.index.fts.fst.version, L.index.fts.fst.node, L.index.fts.fst.count,
L.index.fts.fst.target, L.index.fts.fst.checksum, L.index.files.buffer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import NamedTuple

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import FormatError, LimitExceeded
from lanceref.core.spans import Span, SpanRecorder
from lanceref.index.full_text.fst import FOOTER_BYTES, parse_fst
from lanceref.index.row_set import RowSet, read_treemap
from lanceref.proto import index_pb2
from lanceref.storage import Source

BUFFER = "user buffer"
BYTES = "bytes*"


class Structure(NamedTuple):
    """Patterns of files, and of group, kind and name of their leaves; what these hold.

    `read` takes one structure off a cursor, which records its parts. It raises FormatError.
    """

    file: str
    group: str
    kind: str
    name: str
    read: Callable[[Cursor], object]
    leaf: str = "*"


def read_dictionary(cursor: Cursor) -> None:
    """Read the dictionary that fills a cursor. Raises FormatError."""
    parse_fst(cursor)
    cursor.u64("type", "L.index.fts.fst.version")
    nodes = cursor.remaining - FOOTER_BYTES
    cursor.take(nodes, "nodes", "L.index.fts.fst.node", "bytes")
    cursor.u64("number of tokens", "L.index.fts.fst.count")
    cursor.u64("first node", "L.index.fts.fst.target")
    cursor.u32("checksum", "L.index.fts.fst.checksum")


_MESSAGE = partial(parse_message, clause="L.index.files.buffer")
_IVF = partial(_MESSAGE, cls=index_pb2.IVF, name="partitions")
_TENSOR = partial(_MESSAGE, cls=index_pb2.Tensor, name="tensor")

STRUCTURES = (
    Structure("bitmap_page_lookup.lance", "*", BUFFER, "rows", RowSet.read),
    Structure("zonemap.lance", "*", BUFFER, "rows", RowSet.read),
    Structure("bloomfilter.lance", "*", BUFFER, "rows", RowSet.read),
    Structure("bitmap_page_lookup.lance", "field bitmaps", BYTES, "rows", RowSet.read),
    Structure("ngram_postings.lance", "field posting_list", BYTES, "treemap", read_treemap),
    Structure("part_*_tokens.lance", "field _token_fst*", BYTES, "dictionary", read_dictionary),
    Structure("*.idx", "*", BUFFER, "ivf", _IVF, "global buffer 1"),
    Structure("auxiliary.idx", "*", BUFFER, "model", _TENSOR, "global buffer 2"),
)
"""What is known of the bytes of index files."""


def dissect(root: Span, source: Source, ctx: Context) -> None:
    """Put the parts of known structures in place of the leaves that hold them."""
    known = [one for one in STRUCTURES if fnmatchcase(ctx.file, one.file)]
    for group, leaf in _leaves(root, "") if known else ():
        for one in known:
            pairs = ((group, one.group), (leaf.kind, one.kind), (leaf.name, one.leaf))
            if all(fnmatchcase(name, pattern) for name, pattern in pairs):
                parts = _parts(one, source.read(leaf.start, leaf.end - leaf.start), leaf.start, ctx)
                if parts:
                    leaf.kind, leaf.children = "group", parts


def _leaves(span: Span, group: str) -> Iterator[tuple[str, Span]]:
    if span.is_leaf:
        yield group, span
    for child in span.children:
        yield from _leaves(child, child.name if child.name.startswith("field ") else group)


def _parts(one: Structure, data: memoryview, start: int, ctx: Context) -> Sequence[Span]:
    """Return the structures in some bytes, none when these do not parse."""
    recorder = SpanRecorder(ctx.limits.expanded(len(data)))
    quiet = Context(ctx.file, limits=ctx.limits, spans=recorder)
    cursor = Cursor(data, start, quiet)
    try:
        while cursor.remaining:
            with recorder.group(one.name):
                one.read(cursor)
    except (FormatError, LimitExceeded):
        return []
    return recorder.root.children
