"""Places and bytes in the files of indices, which their faults change."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_pb2 import Tensor
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from lance_conformance.recipes.change import apply
from lance_conformance.recipes.edits import FOURTH, SECOND, descriptor, index, page, partitions, put
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import DATA, Asked, Made, MessageEdit, Paths, SpanPatch
from lance_conformance.recipes.oracle_made import file


def unsized(asked: Asked, last: str = FOURTH) -> Asked:
    """Return a question of an index of whose files no sizes are stated, so that they can change."""
    return reworked(asked, index({"files": None}, last))


def values(file: str, column: str, new: bytes, at: int = 0, leaf: str = "values") -> SpanPatch:
    """Write over bytes of a column."""
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

    def edit(message: FileDescriptor) -> None:
        (own,) = (field for field in message.schema.fields if field.name == column)
        own.name = f"{column}x"

    return descriptor(edit, f"_indices/*/{file}")


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
        said = {**json.loads(json.loads(old)[0]), **changed}
        said.pop(without, None)
        return json.dumps([json.dumps(said)])

    return metadata_text("auxiliary.idx", "storage_metadata", change)


def head(**changed: object) -> MessageEdit:
    """Change what the head says of the index."""
    return metadata_text(
        HEAD, "lance:index", lambda old: json.dumps({**json.loads(old), **changed})
    )


def texts(change: Callable[[list[str]], list[str]], key: str = "lance:flat") -> MessageEdit:
    """Change the list of texts of the head."""
    return metadata_text(HEAD, key, lambda old: json.dumps(change(json.loads(old))))


def centroids(edit: Callable[[Tensor], None] | Paths) -> MessageEdit:
    """Change the centroids."""
    return partitions(lambda message: put(message.centroids_tensor, edit), f"_indices/*/{HEAD}")


THERE = "_indices/*/auxiliary.idx"


def opened_rows(data: bytes) -> tuple[pa.Table, dict[str, str], tuple[bytes, ...]]:
    """Return the rows of a file, the texts of its metadata, and its own global buffers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(data)
        rows = LanceFileReader(path).read_all().to_table()
    texts = {key.decode(): text.decode() for key, text in rows.schema.metadata.items()}
    held = open_file(BytesSource(data), Context(DATA)).global_buffers[1:]
    buffers = tuple(data[one.offset : one.end] for one in held)
    return rows.replace_schema_metadata(None), texts, buffers


def rewritten(
    make: Callable[[], Made], name: str, change: Callable[[pa.Table], pa.Table], last: str = SECOND
) -> Callable[[], Made]:
    """Return a maker of the same index with other rows of a file; `last` is the last manifest."""

    def made() -> Made:
        base = make()
        files, _ = apply(index({"files": None}, last), base.files)
        (path,) = (one for one in files if fnmatch(one, f"*/{name}"))
        rows, texts, buffers = opened_rows(files[path])
        written = file(change(rows), "2.0", schema_metadata=texts, global_buffers=buffers)
        return Made({**files, path: written().files[DATA]}, base.table, made_by="hand")

    return made
