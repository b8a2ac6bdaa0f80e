"""Layouts of a segment: where its parameters are said, and which partitions it has.

Clauses: L.index.fts.partitions, L.index.fts.staging, L.index.fts.early

Layout: `metadata.lance` and the files of each partition; of a segment that is not finished, all
below `staging/`, with a `part_{n}_metadata.lance` for each partition; of early ones `tokens.lance`,
`docs.lance` and `invert.lance` without any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lanceref.core.errors import FormatError
from lanceref.index.full_text.early_partition import EarlyPartition
from lanceref.index.full_text.parameters import Settings, parse_early_settings, parse_settings
from lanceref.index.full_text.partition import Partition
from lanceref.index.index_file import IndexFile
from lanceref.index.segment import Segment

METADATA = "metadata.lance"
STAGING = "staging/"
EARLY_TOKENS = "tokens.lance"
FRAGMENT_BITS = 32

_STAGED = re.compile(STAGING + r"part_(empty_)?(\d{1,20})_metadata\.lance")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a segment says of itself; `file` has its metadata, None for an early one."""

    settings: Settings
    partitions: tuple[Partition, ...]
    file: IndexFile | None


def staged(paths: Sequence[str]) -> list[str]:
    """Return those of the files of a segment that describe staged partitions."""
    return sorted(path for path in paths if _STAGED.fullmatch(path))


def is_staged(paths: Sequence[str]) -> bool:
    """Return whether the files are those of a segment that is not finished."""
    return bool(staged(paths))


def first_number(first_fragment: int) -> int:
    """Return the number of the first staged partition over fragments."""
    return first_fragment << FRAGMENT_BITS


def layout_of(segment: Segment) -> Layout:
    """Find the layout of a segment. Raises FormatError."""
    parts = staged([file.path for file in segment.entry.files])
    if parts:
        return _of_staged(segment, parts)
    try:
        file = segment.file(METADATA)
    except FormatError as error:
        early = _early(segment)
        if early is None:
            raise error
        return early
    settings = parse_settings(file.metadata, file.place)
    numbers = _numbers(file)
    return Layout(
        settings, tuple(Partition(segment, one, settings.layout) for one in numbers), file
    )


def _numbers(file: IndexFile) -> list[int]:
    """Return the numbers of partitions. Raises FormatError."""
    text = file.text("partitions")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(type(one) is int for one in found):
        raise FormatError(
            "L.index.fts.partitions", file.place, found=text[:40], wanted="a list of numbers"
        )
    return found


def _of_staged(segment: Segment, paths: Sequence[str]) -> Layout:
    """Return the layout of a segment that is not finished. Raises FormatError."""
    files = [segment.file(path) for path in paths]
    settings = parse_settings(files[0].metadata, files[0].place)
    numbers: list[int] = []
    for file in files:
        if parse_settings(file.metadata, file.place) != settings:
            raise FormatError(
                "L.index.fts.staging",
                file.place,
                found="other parameters",
                wanted=f"those of {paths[0]}",
            )
        numbers += _numbers(file)
    partitions = [
        Partition(segment, number, settings.layout, STAGING) for number in sorted(set(numbers))
    ]
    return Layout(settings, tuple(partitions), files[0])


def _early(segment: Segment) -> Layout | None:
    """Return the layout of an early segment, None for another. Raises FormatError."""
    try:
        file = segment.file(EARLY_TOKENS)
    except FormatError:
        return None
    settings = parse_early_settings(file.metadata, file.place)
    return Layout(settings, (EarlyPartition(segment),), None)
