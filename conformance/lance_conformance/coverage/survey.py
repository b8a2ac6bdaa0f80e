"""Survey: every fixture explained, and everything that occurred in one of them counted.

Bytes and occurrences count from cases that are to be read; cases that are to be refused are counted
beside them, because what no reader accepts can occur only there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lanceref.core.spans import Span
from lanceref.inspection import explain

from lance_conformance.cases import Case
from lance_conformance.coverage import arrays, codecs, layouts, types
from lance_conformance.coverage.messages import (
    COVERED,
    Fact,
    declared_fields,
    field_facts,
    messages,
)

VERSIONS = {(0, 1): "0.1", (0, 2): "0.1", (0, 3): "2.0", (2, 0): "2.0"}
"""File versions by the pair in the last bytes; from 2.1 on it says itself."""

NOT_EXPLAINED = (".json", ".blob")
"""Ends of names of files without owners: references, and blobs, which are nothing but values."""


@dataclass(slots=True)
class Survey:
    """Counts: bytes and those without an owner, and how often each fact occurred."""

    num_files: int = 0
    num_bytes: int = 0
    unowned: dict[str, int] = field(default_factory=dict)
    read: Counter[Fact] = field(default_factory=Counter)
    refused: Counter[Fact] = field(default_factory=Counter)


class Explained(NamedTuple):
    """What occurs in a file, and the number of its bytes without an owner."""

    facts: Counter[Fact]
    unowned: int


def axes() -> dict[str, tuple[str, ...]]:
    """Return every axis with the members that are to occur, fields of messages first."""
    declared: dict[str, list[str]] = {}
    for axis, member in declared_fields(COVERED):
        declared.setdefault(axis, []).append(member)
    named = {axis: tuple(members) for axis, members in declared.items()}
    return {**named, **layouts.AXES, **codecs.AXES, **arrays.AXES, **types.AXES}


def survey(cases: Iterable[Case]) -> Survey:
    """Explain every file of every active case."""
    found, explained = Survey(), dict[tuple[str, bytes], Explained]()
    for case in cases:
        if case.is_active:
            for path in _files(case):
                _count(found, case, path, explained)
    return found


def _files(case: Case) -> Iterator[Path]:
    root = case.input_root
    paths = sorted(root.rglob("*")) if root.is_dir() else [root]
    yield from (path for path in paths if path.is_file() and path.suffix not in NOT_EXPLAINED)


def _count(
    found: Survey, case: Case, path: Path, explained: dict[tuple[str, bytes], Explained]
) -> None:
    """Count one file; `explained` holds what is known of files, which many cases share."""
    data = path.read_bytes()
    key = (path.name, hashlib.sha256(data).digest())
    if key not in explained:
        tree = explain(path)
        unowned = sum(end - start for start, end in tree.unowned)
        explained[key] = Explained(Counter(file_facts(tree.root, data)), unowned)
    facts, unowned = explained[key]
    if case.is_negative:
        found.refused.update(facts)
        return
    found.read.update(facts)
    if case.kind == "lint" and _is_broken(case, path):
        return
    found.num_files += 1
    found.num_bytes += len(data)
    if unowned:
        found.unowned[path.relative_to(case.folder).as_posix()] = unowned


def _is_broken(case: Case, path: Path) -> bool:
    """Whether the fault of a `lint` lies in this file and may make it unreadable."""
    return any(path.match(str(patch["target"])) for patch in case.manifest["patch"])


def file_facts(root: Span, data: bytes) -> Iterator[Fact]:
    """Yield everything that occurs in one explained file."""
    version = _version(data)
    for message in messages(root, data):
        yield from field_facts(message)
        yield from types.message_facts(message, version)
        if version == "0.1":
            yield from arrays.legacy_facts(message)
        elif version == "2.0":
            yield from arrays.message_facts(message)
        elif version in codecs.PAGE_VERSIONS:
            yield from layouts.message_facts(message, version)
    for leaf in root.leaves():
        yield from layouts.leaf_facts(leaf, version)


def _version(data: bytes) -> str:
    """Return the version of a data file; for other files one that no data file has."""
    if data[-4:] != b"LANC":
        return "none"
    major, minor = int.from_bytes(data[-8:-6], "little"), int.from_bytes(data[-6:-4], "little")
    return VERSIONS.get((major, minor), f"{major}.{minor}")
