"""Hostile pages: the metadata of a data file rewritten, page after page, message by message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from google.protobuf.message import DecodeError, Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource

from lance_conformance.campaigns.damage.whole.bombs import MOST_PAGES
from lance_conformance.campaigns.damage.whole.fields import (
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


def changed(
    pick: Callable[[Path, Random], tuple[Path, str]],
    part: Callable[[Any, Random], Message] = lambda message, _: message,
) -> Callable[[Path, Random], str]:
    """Return an attack that changes up to three fields of a message, or of a part of it."""

    def attack(root: Path, rng: Random) -> str:
        path, where = pick(root, rng)
        try:
            with edited(path, where) as message:
                told = change_some(part(message, rng), rng)
        except DecodeError:  # a file of an index may have another schema
            return "no such message"
        if path.parent.name == "data":
            _tell_size(root, path)
        return f"{path.name} {told}"

    return attack


def section(name: str) -> Callable[[Path, Random], tuple[Path, str]]:
    """Return what picks a section of the latest manifest."""
    return lambda root, _: (latest(root), name)


def column(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick what a data file says of a column."""
    path = _data_file(root, rng)
    return path, f"column {rng.randrange(len(_pages(path)))}"


def encoding(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick how a page is encoded."""
    path = _data_file(root, rng)
    number, pages = rng.choice([(n, pages) for n, pages in enumerate(_pages(path)) if pages])
    return path, f"page {number}.{rng.randrange(pages)}"


def index_column(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick what a file of an index says of a column."""
    path = rng.choice([one for one in sorted(root.glob("_indices/*/*")) if _pages(one)])
    return path, f"column {rng.randrange(len(_pages(path)))}"


def schema(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick the schema that a data file, or a file of an index, holds."""
    return rng.choice([_data_file(root, rng), *sorted(root.glob("_indices/*/*"))]), "descriptor"


def unknown_in_columns(root: Path, rng: Random) -> str:
    """Append fields that nobody knows to every column's message."""
    path, count = _data_file(root, rng), size_of(rng, 10, 50_000)
    spare = unknown_fields(rng, count)
    for number in range(len(_pages(path))):
        with edited(path, f"column {number}") as column:
            column.MergeFromString(spare)
    _tell_size(root, path)
    return str(count)


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
