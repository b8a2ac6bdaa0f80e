"""Files of indices: places and bytes that their faults change, and the faults of every type.

New names and types are as long as the old ones, so that files keep the size their entry states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_pb2 import Tensor
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from lance_conformance.recipes import edits, model
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.constructors import fault, faults
from lance_conformance.recipes.edits import FOURTH, SECOND, descriptor, index, page, partitions
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import DATA, Files, MessageEdit, Request, SpanPatch
from lance_conformance.recipes.oracle_files import file


def unsized(query: Request, last: str = FOURTH) -> Request:
    """Return a question of an index of whose files no sizes are stated, so that they can change."""
    return edited(query, index({"files": None}, last))


def values(
    file: str, column: str, new: bytes | Callable[[bytes], bytes], at: int = 0, leaf: str = "values"
) -> SpanPatch:
    """Write over bytes of a column, or change them by a function."""
    return SpanPatch((f"field {column}", leaf), new, at=at, target=f"_indices/*/{file}")


def held_bytes(file: str, new: bytes, at: int) -> SpanPatch:
    """Write over bytes of the first global buffer that is no descriptor."""
    return SpanPatch(("global buffer 1",), new, at=at, target=f"_indices/*/{file}")


def metadata(file: str, key: str, value: str | None) -> MessageEdit:
    """Set an entry of the metadata of a file, or take it out."""
    new = None if value is None else value.encode()
    return descriptor({f"schema.metadata.{key}": new}, f"_indices/*/{file}")


def renamed(file: str, column: str) -> MessageEdit:
    """Give a column another name."""
    return _changed(file, column, name=f"{column}x")


def nulls(file: str, column: int) -> MessageEdit:
    """Make every value of a column null."""
    return page({"nullable.all_nulls": {}}, column, f"_indices/*/{file}")


DATA_PLACE = "page_data.lance"
POSTINGS = "part_0_invert.lance"
HEAD = "index.idx"


def metadata_text(file: str, key: str, change: Callable[[str], str]) -> MessageEdit:
    """Change a text of the metadata of a file."""
    edit = {f"schema.metadata.{key}": lambda old: change(old.decode()).encode()}
    return descriptor(edit, f"_indices/*/{file}")


def stored_codes(without: str = "", **changed: object) -> MessageEdit:
    """Change what the file says of how vectors are stored, or leave a word of it out."""

    def change(old: str) -> str:
        settings = {**json.loads(json.loads(old)[0]), **changed}
        settings.pop(without, None)
        return json.dumps([json.dumps(settings)])

    return metadata_text("auxiliary.idx", "storage_metadata", change)


def json_members(file: str, key: str, **changed: object) -> MessageEdit:
    """Change members of an object in the metadata of a file."""
    return metadata_text(file, key, lambda old: json.dumps({**json.loads(old), **changed}))


def head(**changed: object) -> MessageEdit:
    """Change what the head says of the index."""
    return json_members(HEAD, "lance:index", **changed)


def texts(change: Callable[[list[str]], list[str]], key: str = "lance:flat") -> MessageEdit:
    """Change the list of texts of the head."""
    return metadata_text(HEAD, key, lambda old: json.dumps(change(json.loads(old))))


def centroids(edit: Callable[[Tensor], None] | model.Paths) -> MessageEdit:
    """Change the centroids."""
    return partitions(lambda ivf: edits.update(ivf.centroids_tensor, edit), f"_indices/*/{HEAD}")


THERE = "_indices/*/auxiliary.idx"


@dataclass(frozen=True, slots=True)
class Held:
    """What a file of an index holds: rows, texts of its metadata, and global buffers of its own."""

    rows: pa.Table
    texts: Mapping[str, str]
    buffers: tuple[bytes, ...]


def opened(data: bytes) -> Held:
    """Return what a file of an index holds."""
    rows = LanceFileReader(DATA, source=BytesSource(data, DATA)).read_all().to_table()
    texts = {key.decode(): text.decode() for key, text in rows.schema.metadata.items()}
    extents = open_file(BytesSource(data), Context(DATA)).global_buffers[1:]
    buffers = tuple(data[one.offset : one.end] for one in extents)
    return Held(rows.replace_schema_metadata(None), texts, buffers)


def path_of(name: str, files: Files) -> str:
    """Return the path of the one file of an index that has a name."""
    (path,) = (one for one in files if one.startswith("_indices/") and one.endswith(f"/{name}"))
    return path


def rewritten(
    name: str, change: Callable[[Held], Held], last: str = SECOND
) -> Callable[[Files], Files]:
    """Return what writes a file of an index anew; `last` is the last manifest, to say no sizes."""

    def write(files: Files) -> Files:
        unsized_files, _ = apply(index({"files": None}, last), files)
        path = path_of(name, files)
        new = change(opened(files[path]))
        make = file(new.rows, "2.0", schema_metadata=new.texts, global_buffers=new.buffers)
        return {**unsized_files, path: make().files[DATA]}

    return write


def with_rows(change: Callable[[pa.Table], pa.Table]) -> Callable[[Held], Held]:
    """Return what changes the rows of a file, and nothing besides."""
    return lambda held: replace(held, rows=change(held.rows))


_TYPES = {"uint64": "double", "uint32": "uint16", "binary": "string",
    "large_binary": "large_string"}  # fmt: skip
"""Types of columns and others of names as long."""

_FILES: tuple[tuple[str, str, bool, Mapping[str, str]], ...] = (
    ("bitmap/plain", "bitmap_page_lookup.lance", True, {"keys": "", "bitmaps": "binary"}),
    ("label-list/plain", "bitmap_page_lookup.lance", True, {"bitmaps": "binary"}),
    ("btree/plain", "page_lookup.lance", True, {"min": "", "page_idx": "uint32"}),
    ("btree/plain", "page_data.lance", False, {"ids": "uint64"}),
    ("json/plain", "page_data.lance", True, {"ids": ""}),
    ("zonemap/plain", "zonemap.lance", True, {"zone_start": "uint64", "null_count": "uint32"}),
    ("bloomfilter/plain", "bloomfilter.lance", True,
        {"bloom_filter_data": "binary", "fragment_id": "uint64"}),
    ("ngram/plain", "ngram_postings.lance", True, {"posting_list": "binary", "tokens": "uint32"}),
    ("rtree/plain", "page_data.lance", True, {"id": ""}),
    ("fm/plain", "part_0_fm.lance", True, {"words": "", "block_id": ""}),
    ("inverted/plain", "part_0_tokens.lance", True, {"_token_fst_bytes": "large_binary"}),
    ("inverted/plain", "part_0_invert.lance", True, {"_posting": "", "_length": "uint32"}),
    ("inverted/plain", "part_0_docs.lance", True, {"_rowid": "uint64", "_num_tokens": "uint32"}),
    ("inverted/early", "docs.lance", True, {"_num_tokens": "uint32"}),
    ("inverted/early", "tokens.lance", False, {"_token_id": "uint32"}),
    ("inverted/early", "invert.lance", False, {"_rowid": "uint64"}),
    ("ivf-pq/plain", "index.idx", True, {}),
    ("ivf-pq/plain", "auxiliary.idx", False, {"_rowid": "uint64", "__pq_code": ""}),
    ("ivf-sq/plain", "auxiliary.idx", True, {"__sq_code": ""}),
    ("ivf-rq/plain", "auxiliary.idx", True, {}),
    ("ivf-hnsw-flat/plain", "auxiliary.idx", True, {}),
    ("ivf-hnsw-flat/plain", "index.idx", False, {"__vector_id": "uint32", "__neighbors": ""}),
)  # fmt: skip
"""A parent, a file, whether its search fails without it, and columns that the search needs.

A column has a type where it is tried with another one.
"""

_SIZED = (("json/plain", "page_lookup.lance"), ("rtree/plain", "page_data.lance"),
    ("fm/plain", "part_0_fm.lance"))  # fmt: skip
"""A parent whose entry states the size of a file."""

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


def damaged(topic: str) -> tuple[model.Negative, ...]:
    """Return the faults of the files of a type of index."""
    return tuple(
        one
        for parent, row in _faults()
        if parent.startswith(f"{topic}/")
        for one in faults(f"index/any/{parent}", row)
    )


def _faults() -> Iterator[tuple[str, model.Negative]]:
    missing, absent = "L.index.segment.files", "L.index.files.column"
    for parent, name, is_needed, _ in _FILES:
        if is_needed:
            removed = model.Remove(_on(name))
            yield parent, fault(f"gone-{_stem(name)}", f"{name} is missing", missing, removed)
    for parent, name in _SIZED:
        title, cut = f"{name} is nine bytes short", model.Resize(keep=-9, target=_on(name))
        yield parent, fault(f"cut-{_stem(name)}", title, "L.index.files.size", cut)
    columns = ((*row[:2], *column) for row in _FILES for column in row[3].items())
    for parent, name, column, type_ in columns:
        stem, title = _stem(name, column), f"{name} has no column {column}"
        unnamed = _changed(name, column, name=f"{column[:-1]}~")
        yield parent, fault(f"name-{stem}", title, absent, unnamed)
        if type_:
            title = f"{column} of {name} is of {_TYPES[type_]}"
            typed = _changed(name, column, logical_type=_TYPES[type_])
            yield parent, fault(f"type-{stem}", title, absent, typed)
    for parent, name, number, what, clause in _NULLS:
        slug, title = f"null-{_stem(name)}-{number}", f"{what} of {name} are null"
        yield parent, fault(slug, title, clause, nulls(name, number))
