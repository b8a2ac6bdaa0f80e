"""Hostile pages: the metadata of a data file rewritten, page after page, message by message."""

from __future__ import annotations

from pathlib import Path
from random import Random

from google.protobuf.message import DecodeError
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource

from lance_conformance.campaigns.damage.whole.bombs import MOST_PAGES
from lance_conformance.campaigns.damage.whole.fields import (
    change,
    change_some,
    edited,
    latest,
    size_of,
    unknown_fields,
)


def repeated_pages(root: Path, rng: Random) -> str:
    """Name a page of a data file again and again, in one column or in all."""
    path, count = _data_file(root, rng), size_of(rng, 2, MOST_PAGES)
    columns = range(len(_pages(path)))
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
    _tell_size(root, path, rows)
    return f"{count} in {len(chosen)} of {len(columns)} columns"


def changed_columns(root: Path, rng: Random) -> str:
    """Change up to three fields of what a file says of its columns."""
    path = _data_file(root, rng)
    with edited(path, f"column {rng.randrange(len(_pages(path)))}") as column:
        told = change_some(column, rng)
    _tell_size(root, path)
    return told


def changed_encoding(root: Path, rng: Random) -> str:
    """Change up to two fields of how each page of a column is encoded."""
    path = _data_file(root, rng)
    number, pages = rng.choice([(n, pages) for n, pages in enumerate(_pages(path)) if pages])
    for page in range(pages):
        with edited(path, f"page {number}.{page}") as encoding:
            told = change_some(encoding, rng, 2)
    _tell_size(root, path)
    return told


def unknown_in_columns(root: Path, rng: Random) -> str:
    """Append fields that nobody knows to every column's message."""
    path, count = _data_file(root, rng), size_of(rng, 10, 50_000)
    spare = unknown_fields(rng, count)
    for number in range(len(_pages(path))):
        with edited(path, f"column {number}") as column:
            column.MergeFromString(spare)
    _tell_size(root, path)
    return str(count)


def changed_index_file(root: Path, rng: Random) -> str:
    """Change a column, or how its pages are encoded, of a file of an index."""
    path = rng.choice(sorted(root.glob("_indices/*/*")))
    columns = len(_pages(path))
    if not columns:
        return "no column"
    with edited(path, f"column {rng.randrange(columns)}") as column:
        return f"{path.name} {change(column, rng)}"


def changed_schema(root: Path, rng: Random) -> str:
    """Change up to two fields of the schema that a data file, or a file of an index, holds."""
    path = rng.choice([_data_file(root, rng), *sorted(root.glob("_indices/*/*"))])
    try:
        with edited(path, "descriptor") as descriptor:
            told = change_some(descriptor, rng, 2)
    except DecodeError:
        return "no schema"
    _tell_size(root, path)
    return told


def _data_file(root: Path, rng: Random) -> Path:
    """Return a data file of the latest version."""
    with edited(latest(root)) as manifest:
        paths = [one.path for fragment in manifest.fragments for one in fragment.files]
    return root / "data" / str(rng.choice(paths))


def _pages(path: Path) -> list[int]:
    """Return how many pages each column of a data file has."""
    file = open_file(LocalSource(str(path)), Context(path.name))
    return [len(column.pages) for column in file.columns]


def _tell_size(root: Path, path: Path, rows: int | None = None) -> None:
    """Let the manifest know the size of a data file, and its `rows` where there are others."""
    with edited(latest(root)) as manifest:
        for fragment in manifest.fragments:
            for one in fragment.files:
                if one.path == path.name:
                    one.file_size_bytes = path.stat().st_size
                    fragment.physical_rows = rows or fragment.physical_rows
