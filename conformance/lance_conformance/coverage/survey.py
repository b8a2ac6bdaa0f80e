"""Survey: every fixture is explained, and all facts are counted.

Bytes and facts of valid cases count; those of negative cases are counted separately, because some
facts occur only in files that no reader accepts.
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

from lance_conformance.coverage import arrays, codecs, layouts, types
from lance_conformance.coverage.messages import (
    COVERED,
    Fact,
    declared_fields,
    field_facts,
    messages,
)
from lance_conformance.suite.cases import Case

VERSIONS = {(0, 1): "0.1", (0, 2): "0.1", (0, 3): "2.0", (2, 0): "2.0"}
"""File versions by the pair in the footer; from 2.1 on they are equal."""

NOT_EXPLAINED = (".json", ".blob")
"""Suffixes of files that are not explained: references, and blobs."""


@dataclass(slots=True)
class Survey:
    """Counts of bytes, of those without an owner, and of each fact."""

    num_files: int = 0
    num_bytes: int = 0
    unowned: dict[str, int] = field(default_factory=dict)
    read: Counter[Fact] = field(default_factory=Counter)
    refused: Counter[Fact] = field(default_factory=Counter)


class FileFacts(NamedTuple):
    """The facts of a file, and the number of its bytes without an owner."""

    facts: Counter[Fact]
    unowned: int


def axes() -> dict[str, tuple[str, ...]]:
    """Return every axis with its members, fields of messages first."""
    declared: dict[str, list[str]] = {}
    for axis, member in declared_fields(COVERED):
        declared.setdefault(axis, []).append(member)
    named = {axis: tuple(members) for axis, members in declared.items()}
    return {**named, **layouts.AXES, **codecs.AXES, **arrays.AXES, **types.AXES}


def survey(cases: Iterable[Case]) -> Survey:
    """Explain every file of every active case."""
    found, explained = Survey(), dict[tuple[str, bytes], FileFacts]()
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
    found: Survey, case: Case, path: Path, explained: dict[tuple[str, bytes], FileFacts]
) -> None:
    """Count one file; `explained` caches files, which many cases share."""
    data = path.read_bytes()
    key = (path.name, hashlib.sha256(data).digest())
    if key not in explained:
        tree = explain(path)
        unowned = sum(end - start for start, end in tree.unowned)
        explained[key] = FileFacts(Counter(file_facts(tree.root, data)), unowned)
    facts, unowned = explained[key]
    if case.is_negative:
        found.refused.update(facts)
        return
    found.read.update(facts)
    if case.kind == "lint" and _is_patched(case, path):
        return
    found.num_files += 1
    found.num_bytes += len(data)
    if unowned:
        found.unowned[path.relative_to(case.folder).as_posix()] = unowned


def _is_patched(case: Case, path: Path) -> bool:
    """Whether a `lint` case patches this file, which may then be unreadable."""
    return any(path.match(str(patch["target"])) for patch in case.manifest["patch"])


def file_facts(root: Span, data: bytes) -> Iterator[Fact]:
    """Yield all facts of one explained file."""
    version = _file_version(data)
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


def _file_version(data: bytes) -> str:
    """Return the version of a data file, `none` for other files."""
    if data[-4:] != b"LANC":
        return "none"
    major, minor = int.from_bytes(data[-8:-6], "little"), int.from_bytes(data[-6:-4], "little")
    return VERSIONS.get((major, minor), f"{major}.{minor}")
