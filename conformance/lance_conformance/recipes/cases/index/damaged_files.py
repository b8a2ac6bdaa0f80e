"""Files of indices of which a file, a column, its type or its nulls are wrong.

New names and types are as long as the old ones, so that files keep the size their entry states.
"""

from __future__ import annotations

from collections.abc import Iterator

from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.constructors import fault, faults
from lance_conformance.recipes.edits import descriptor
from lance_conformance.recipes.model import MessageEdit, Negative, Remove, Resize

_TYPES = {
    "uint64": "double",
    "uint32": "uint16",
    "binary": "string",
    "large_binary": "large_string",
}
"""Types of columns and others of names as long."""

_FILES = (
    ("bitmap/plain", "bitmap_page_lookup.lance"),
    ("label-list/plain", "bitmap_page_lookup.lance"),
    ("btree/plain", "page_lookup.lance"),
    ("json/plain", "page_data.lance"),
    ("zonemap/plain", "zonemap.lance"),
    ("bloomfilter/plain", "bloomfilter.lance"),
    ("ngram/plain", "ngram_postings.lance"),
    ("rtree/plain", "page_data.lance"),
    ("fm/plain", "part_0_fm.lance"),
    ("inverted/plain", "part_0_tokens.lance"),
    ("inverted/plain", "part_0_invert.lance"),
    ("inverted/plain", "part_0_docs.lance"),
    ("inverted/early", "docs.lance"),
    ("ivf-pq/plain", "index.idx"),
    ("ivf-sq/plain", "auxiliary.idx"),
    ("ivf-rq/plain", "auxiliary.idx"),
    ("ivf-hnsw-flat/plain", "auxiliary.idx"),
)
"""A parent, and a file its search needs."""

_SIZED = (
    ("json/plain", "page_lookup.lance"),
    ("rtree/plain", "page_data.lance"),
    ("fm/plain", "part_0_fm.lance"),
)
"""A parent whose entry states the size of a file."""

_COLUMNS = (
    ("bitmap/plain", "bitmap_page_lookup.lance", "keys", ""),
    ("bitmap/plain", "bitmap_page_lookup.lance", "bitmaps", "binary"),
    ("label-list/plain", "bitmap_page_lookup.lance", "bitmaps", "binary"),
    ("btree/plain", "page_data.lance", "ids", "uint64"),
    ("btree/plain", "page_lookup.lance", "min", ""),
    ("btree/plain", "page_lookup.lance", "page_idx", "uint32"),
    ("json/plain", "page_data.lance", "ids", ""),
    ("zonemap/plain", "zonemap.lance", "zone_start", "uint64"),
    ("zonemap/plain", "zonemap.lance", "null_count", "uint32"),
    ("bloomfilter/plain", "bloomfilter.lance", "bloom_filter_data", "binary"),
    ("bloomfilter/plain", "bloomfilter.lance", "fragment_id", "uint64"),
    ("ngram/plain", "ngram_postings.lance", "posting_list", "binary"),
    ("ngram/plain", "ngram_postings.lance", "tokens", "uint32"),
    ("rtree/plain", "page_data.lance", "id", ""),
    ("fm/plain", "part_0_fm.lance", "words", ""),
    ("fm/plain", "part_0_fm.lance", "block_id", ""),
    ("inverted/plain", "part_0_tokens.lance", "_token_fst_bytes", "large_binary"),
    ("inverted/plain", "part_0_invert.lance", "_posting", ""),
    ("inverted/plain", "part_0_invert.lance", "_length", "uint32"),
    ("inverted/plain", "part_0_docs.lance", "_rowid", "uint64"),
    ("inverted/plain", "part_0_docs.lance", "_num_tokens", "uint32"),
    ("inverted/early", "tokens.lance", "_token_id", "uint32"),
    ("inverted/early", "invert.lance", "_rowid", "uint64"),
    ("inverted/early", "docs.lance", "_num_tokens", "uint32"),
    ("ivf-pq/plain", "auxiliary.idx", "_rowid", "uint64"),
    ("ivf-sq/plain", "auxiliary.idx", "__sq_code", ""),
    ("ivf-pq/plain", "auxiliary.idx", "__pq_code", ""),
    ("ivf-hnsw-flat/plain", "index.idx", "__vector_id", "uint32"),
    ("ivf-hnsw-flat/plain", "index.idx", "__neighbors", ""),
)
"""A parent, a file, a column its search needs, and the type of it where another one is tried."""

_NULLS = (
    ("bloomfilter/plain", "bloomfilter.lance", 4, "filters", "L.array.nullable.field"),
    ("zonemap/plain", "zonemap.lance", 2, "counts of nulls", "L.array.nullable.field"),
    ("btree/plain", "page_data.lance", 1, "row ids", "L.array.nullable.field"),
    ("ngram/plain", "ngram_postings.lance", 0, "tokens", "L.index.ngram.order"),
    ("label-list/plain", "bitmap_page_lookup.lance", 1, "sets", "L.index.bitmap.columns"),
    ("inverted/plain", "part_0_docs.lance", 0, "row ids", "L.array.nullable.field"),
    ("inverted/plain", "part_0_invert.lance", 1, "blocks", "L.index.fts.postings"),
    ("inverted/plain", "part_0_invert.lance", 8, "starts of positions",
     "L.index.fts.positions.offsets"),
    ("inverted/early", "docs.lance", 0, "row ids", "L.index.fts.docs"),
    ("inverted/early", "docs.lance", 1, "numbers of tokens", "L.index.fts.docs"),
    ("inverted/early", "invert.lance", 1, "frequencies", "L.index.fts.early.documents"),
    ("inverted/early", "tokens.lance", 1, "numbers of tokens", "L.index.fts.tokens"),
)  # fmt: skip
"""A parent, a file, the column whose values are null, what they are, and the clause."""


def _stem(file: str, column: str = "") -> str:
    return (
        "-".join([file.partition(".")[0], *column.split("_")]).replace("_", "-").replace("--", "-")
    )


def _on(file: str) -> str:
    return f"_indices/*/{file}"


def _changed(file: str, column: str, **values: str) -> MessageEdit:
    """Set fields of a column's field."""

    def edit(message: FileDescriptor) -> None:
        (own,) = (field for field in message.schema.fields if field.name == column)
        for name, value in values.items():
            setattr(own, name, value)

    return descriptor(edit, _on(file))


def damaged(topic: str) -> tuple[Negative, ...]:
    """Return the faults of the files of a type of index."""
    return tuple(
        one
        for parent, row in _faults()
        if parent.startswith(f"{topic}/")
        for one in faults(f"index/any/{parent}", row)
    )


def _faults() -> Iterator[tuple[str, Negative]]:
    missing, absent = "L.index.segment.files", "L.index.files.column"
    for parent, file in _FILES:
        gone = Remove(_on(file))
        yield parent, fault(f"gone-{_stem(file)}", f"{file} is missing", missing, gone)
    for parent, file in _SIZED:
        title, cut = f"{file} is nine bytes short", Resize(keep=-9, target=_on(file))
        yield parent, fault(f"cut-{_stem(file)}", title, "L.index.files.size", cut)
    for parent, file, column, type_ in _COLUMNS:
        stem, title = _stem(file, column), f"{file} has no column {column}"
        unnamed = _changed(file, column, name=f"{column[:-1]}~")
        yield parent, fault(f"name-{stem}", title, absent, unnamed)
        if type_:
            title = f"{column} of {file} is of {_TYPES[type_]}"
            typed = _changed(file, column, logical_type=_TYPES[type_])
            yield parent, fault(f"type-{stem}", title, absent, typed)
    for parent, file, number, what, clause in _NULLS:
        slug, title = f"null-{_stem(file)}-{number}", f"{what} of {file} are null"
        nulls = MessageEdit(f"page {number}.0", {"nullable.all_nulls": {}}, _on(file))
        yield parent, fault(slug, title, clause, nulls)
