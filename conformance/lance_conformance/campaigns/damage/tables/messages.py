"""Messages: attacks that change the protobuf messages of a table, and sizes that depend on them.

Some add what no single field can: a few bytes for a very large number of rows, pages or fields.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError, Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto import file_pb2, table_pb2
from lanceref.storage import LocalSource
from lanceref_testing.faulty_messages import NAMES, change_some, full_bitmap, size_of

from lance_conformance.campaigns.damage.tables.paths import BRANCH, write_reference
from lance_conformance.recipes.apply_change import edit_message

PARENTS = (None, "self", "other")
"""Values of `parentBranch` of a branch named `self`."""

ChooseMessage = Callable[[Path, Random], tuple[Path, str]]
"""Returns a file of a table, and the name of a message in it, as in `edit_message`."""


def change_fields(choose: ChooseMessage) -> Callable[[Path, Random], str]:
    """Return an attack that changes up to three fields of a message."""

    def attack(root: Path, rng: Random) -> str:
        path, section = choose(root, rng)
        names = NAMES if rng.random() < 0.7 else outside_names(root)
        try:
            with edited(path, section) as message:
                part = rng.choice(message.fragments) if section == "manifest" else message
                changes = change_some(part if rng.random() < 0.5 else message, rng, names)
                if section == "manifest":
                    ids = [one.id for one in message.fragments if one.id < 2**32]
                    message.max_fragment_id = max([message.max_fragment_id, *ids])
        except DecodeError:  # a file of an index may have another schema
            return "no such message"
        if section == "transaction" and rng.random() < 0.5:
            _copy_transaction(root)
        if path.parent.name == "data":
            update_size(root, path)
        return f"{path.name} {changes}"

    return attack


def latest(root: Path) -> Path:
    """Return the manifest file of the latest version of a table."""
    paths = [path for path in (root / "_versions").glob("*.manifest") if path.stem.isdigit()]
    newest_first = any(len(path.stem) == 20 for path in paths)
    return (min if newest_first else max)(paths, key=lambda path: int(path.stem))


@contextmanager
def edited(path: Path, section: str = "manifest") -> Iterator[Any]:
    """Yield a message of a file; afterwards write the file with the changed message.

    `section` names a section of a manifest, or the descriptor, a column or a page of a data file.
    """
    data, messages = path.read_bytes(), list[Message]()
    edit_message(path.name, data, section, messages.append)
    yield messages[0]
    new = edit_message(path.name, data, section, lambda message: message.CopyFrom(messages[0]))
    path.write_bytes(new.data)


def outside_names(root: Path) -> list[str]:
    """Return the paths of the files of the outside table, relative to folders of a table."""
    outside = root.parent / "outside" / "table"
    files = [path.relative_to(root.parent) for path in sorted(outside.rglob("*")) if path.is_file()]
    prefixes = ("../..", "..", str(root.parent))
    return [f"{prefix}/{path}" for path in files for prefix in prefixes]


def _copy_transaction(root: Path) -> None:
    """Write the transaction of the manifest to its transaction file."""
    with edited(latest(root)) as manifest:
        path = root / "_transactions" / manifest.transaction_file
    with edited(latest(root), "transaction") as transaction:
        path.write_bytes(transaction.SerializeToString())


def section(name: str) -> ChooseMessage:
    """Return a function that chooses a section of the latest manifest."""
    return lambda root, _: (latest(root), name)


def column(root: Path, rng: Random) -> tuple[Path, str]:
    """Choose the metadata of a column of a data file."""
    path = data_file(root, rng)
    return path, f"column {rng.randrange(len(pages_of(path)))}"


def encoding(root: Path, rng: Random) -> tuple[Path, str]:
    """Choose the encoding of a page."""
    path = data_file(root, rng)
    number, pages = rng.choice([(n, pages) for n, pages in enumerate(pages_of(path)) if pages])
    return path, f"page {number}.{rng.randrange(pages)}"


def index_column(root: Path, rng: Random) -> tuple[Path, str]:
    """Choose the metadata of a column of an index file."""
    path = rng.choice([one for one in sorted(root.glob("_indices/*/*")) if pages_of(one)])
    return path, f"column {rng.randrange(len(pages_of(path)))}"


def schema(root: Path, rng: Random) -> tuple[Path, str]:
    """Choose the schema of a data file or of an index file."""
    return rng.choice([data_file(root, rng), *sorted(root.glob("_indices/*/*"))]), "descriptor"


def branch(root: Path, rng: Random) -> tuple[Path, str]:
    """Create a branch with a copy of the latest manifest, and choose that manifest."""
    copy = root / "tree" / "self" / "_versions" / latest(root).name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(latest(root), copy)
    write_reference(root, "branches", "self", {**BRANCH, "parentBranch": rng.choice(PARENTS)})
    return copy, "manifest"


def data_file(root: Path, rng: Random) -> Path:
    """Return a data file of the latest version."""
    with edited(latest(root)) as manifest:
        paths = [one.path for fragment in manifest.fragments for one in fragment.files]
    return root / "data" / str(rng.choice(paths))


def pages_of(path: Path) -> list[int]:
    """Return the number of pages of each column of a data file."""
    file = open_file(LocalSource(str(path)), Context(path.name))
    return [len(column.pages) for column in file.columns]


def update_size(root: Path, path: Path, rows: int | None = None) -> None:
    """Update the size of a data file in the manifest, and its number of rows if given."""
    with edited(latest(root)) as manifest:
        for fragment in manifest.fragments:
            for one in fragment.files:
                if one.path == path.name:
                    one.file_size_bytes = path.stat().st_size
                    fragment.physical_rows = rows or fragment.physical_rows


MAX_ADDED = 10_000
"""Most pages of a column, or fields of a schema, that are added."""


def deletions(root: Path, rng: Random) -> str:
    """Add a deletion file with far more rows than the fragment has."""
    count = size_of(rng, 1, 65536)
    with edited(latest(root)) as message:
        fragment = rng.choice(message.fragments)
        entry = fragment.deletion_file
        kind = rng.choice((entry.BITMAP, entry.ARROW_ARRAY))
        entry.file_type, entry.read_version, entry.id = kind, 1, 7
        entry.num_deleted_rows = rng.choice((1, 5, count * 65536, 2**63))
        if rng.random() < 0.3:
            fragment.physical_rows = rng.choice((count * 65536 + 1, 2**32, 2**63))
        message.reader_feature_flags |= 1
        message.writer_feature_flags |= 1
    suffix = "bin" if kind == table_pb2.DeletionFile.BITMAP else "arrow"
    path = root / "_deletions" / f"{fragment.id}-1-7.{suffix}"
    path.parent.mkdir(exist_ok=True)
    if suffix == "bin":
        path.write_bytes(full_bitmap(count))
    else:
        _write_zeros(path, count * 500, rng.choice(("zstd", "lz4")))
    return f"{count} {suffix}"


def _write_zeros(path: Path, count: int, codec: str) -> None:
    """Write an Arrow file of `count` compressed zeros."""
    zeros = pa.array(np.zeros(count, np.uint32))
    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, schema, options=options) as ipc:
        ipc.write_batch(pa.record_batch([zeros], schema=schema))


def repeated_pages(root: Path, rng: Random) -> str:
    """Repeat the entry of a page of a data file, in one column or in all."""
    path, count = data_file(root, rng), size_of(rng, 2, MAX_ADDED)
    columns = range(len(pages_of(path)))
    chosen = columns if rng.random() < 0.7 else [rng.choice(columns)]
    rows = 0
    for number in columns:
        with edited(path, f"column {number}") as column:
            if number in chosen and column.pages:
                column.pages.extend([column.pages[0]] * (count - 1))
            priority = 0
            for page in column.pages:
                page.priority, priority = priority, priority + page.length
        rows = max(rows, priority)
    with edited(path, "descriptor") as descriptor:
        descriptor.length = rows
    update_size(root, path, rows)
    return f"{count} in {len(chosen)} of {len(columns)} columns"


def invalid_schema(root: Path, rng: Random) -> str:
    """Nest fields deeply, in a cycle, or add a very large number of them."""
    kind = rng.choice(("structs", "lists", "cycle", "wide", "same id", "same name"))
    count = size_of(rng, 2, 50 if kind == "cycle" else MAX_ADDED)
    types = {"structs": "struct", "lists": "list", "cycle": "struct"}
    with edited(latest(root)) as message:
        fields = message.fields
        first = 1 + max(field.id for field in fields)
        is_nested = kind in types
        for number in range(count):
            one = fields.add(id=first + number, name=f"f{number}", nullable=True)
            one.parent_id = first + number - 1 if is_nested and number else -1
            one.logical_type = types.get(kind, "int64")
            one.type = file_pb2.Field.PARENT if is_nested else file_pb2.Field.LEAF
            one.name = "id" if kind == "same name" else one.name
            one.id = first if kind == "same id" else one.id
        fields[-1].logical_type = "int64"
        if kind == "cycle":
            fields[-count].parent_id = fields[-1].id
        message.max_allocated_field_id = first + count
    return f"{count} {kind}"


def invalid_bases(root: Path, rng: Random) -> str:
    """Add base paths to devices, cyclic or missing folders, and refer files to them."""
    paths = ("/dev", "/proc/self", ".", "..", "", "\0", "x" * 5000, str(root), f"{root}/data/..")
    count = size_of(rng, 1, 5000)
    with edited(latest(root)) as message:
        for number in range(count):
            one = message.base_paths.add(id=rng.choice((number, 1)), path=rng.choice(paths))
            one.is_dataset_root = rng.random() < 0.5
        for fragment in message.fragments:
            for one in fragment.files:
                one.base_id = rng.choice((0, 1, count, 2**32 - 1))
        message.reader_feature_flags |= 16
        message.writer_feature_flags |= 16
    return f"{count}"
