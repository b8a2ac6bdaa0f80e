"""Golden drift: changes of published cases, which must not be edited, and new cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree
from lance_conformance.suite import case_storage, suite_file
from lance_conformance.suite.cases import MANIFEST
from lance_conformance.suite.suite_file import SUITE

NAME = "golden drift"

VERDICT_MEMBERS = ("kind", "input", "expect", "patch", "requires")
"""Members of a manifest that affect a verdict."""


def check(base: Tree, head: Tree) -> Check:
    """Return the check on cases of the base that the head removed, withdrew or changed."""
    if base.fixtures is None or head.fixtures is None:
        return Check(NAME, skipped="a tree has no fixtures")
    return Check(NAME, tuple(_drift(base.fixtures, head.fixtures)))


def new_or_changed(base: Path, head: Path) -> list[str]:
    """Return the ids of cases that are new or changed in the head."""
    before, after = published(base), published(head)
    return sorted(name for name, digest in after.items() if before.get(name) != digest)


def published(fixtures: Path) -> dict[str, str]:
    """Return the hashes of the published cases by id."""
    cases: dict[str, str] = json.loads((fixtures / SUITE).read_text("utf-8"))["cases"]
    return cases


def _drift(base: Path, head: Path) -> Iterator[Finding]:
    before, after = published(base), published(head)
    for name, digest in before.items():
        if name not in after or not (head / name / MANIFEST).is_file():
            yield Finding(Colour.RED, name, "published, and removed")
        elif after[name] == digest and suite_file.tree_hash(head / name) != digest:
            text = f"published, and its files do not match {SUITE}"
            yield Finding(Colour.RED, name, text)
        elif after[name] != digest:
            yield from _change_findings(name, base / name, head / name)


def _change_findings(name: str, base: Path, head: Path) -> Iterator[Finding]:
    was, now = _manifest(base), _manifest(head)
    if now.get("status") == "withdrawn" and now.get("withdrawn"):
        yield Finding(Colour.YELLOW, name, f"withdrawn: {now['withdrawn']}")
        return
    for path in sorted(_file_hashes(base) ^ _file_hashes(head)):
        yield Finding(Colour.RED, name, f"published, and the bytes of {path[0]} changed")
    parts = [part for part in VERDICT_MEMBERS if was.get(part) != now.get(part)]
    if parts:
        yield Finding(Colour.RED, name, f"published, and its {', '.join(parts)} changed")
    others = sorted(k for k in was.keys() | now.keys() if was.get(k) != now.get(k))
    if not parts and others:
        yield Finding(Colour.YELLOW, name, f"{', '.join(others)} of the manifest changed")


def _manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(case_storage.read_case(folder)[MANIFEST])
    return document


def _file_hashes(folder: Path) -> set[tuple[str, str]]:
    """Return name and hash of every file of a case but its manifest."""
    files = suite_file.case_files(folder)
    return {(name, sha256(data).hexdigest()) for name, data in files.items() if name != MANIFEST}
