"""Requirements: does an adapter's `hello` claim what a case needs.

A case that is not claimed is never sent; it is reported as unsupported, with the first thing that
is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lance_conformance.cases import Case
from lance_conformance.session import Claims

_ASKING = (("filter", "filters"), ("text", "full-text queries"), ("nearest", "vector queries"))
"""Arguments that are claimed by name, and what they are called."""

_PARTS = ("ranges", "rows")
"""Arguments of a case that is one particular read of a file, claimed by their own name."""

_READS = ("file.read", "dataset.read")
"""Operations that claim which columns can be asked for."""


def main_operation(case: Case) -> str:
    """Return the operation without which nothing of the case can be asked."""
    named = case.requires.get("op")
    if named:
        return str(named)
    by_kind = {
        "take": "dataset.take",
        "inspect": "file.inspect",
        "metadata": "dataset.versions",
        "index-search": "index.search",
        "index-bytes": "index.dump",
    }
    reading = "file.read" if "path" in case.manifest["input"] else "dataset.read"
    return by_kind.get(case.kind, reading)


def missing(case: Case, claims: Claims) -> str | None:
    """Return the first requirement of a case that is not claimed, None when all are."""
    requires, op = case.requires, main_operation(case)
    if op not in claims.capabilities:
        return f"operation {op}"
    undone = next((what for what in _steps(case) if not _claimed(what, claims)), None)
    if undone is not None:
        return f"operation {' '.join(undone)}"
    capability = claims.capabilities[op]
    version = requires.get("file_version")
    versions = capability.get("versions")
    if version and isinstance(versions, list) and version not in versions:
        return f"file version {version}"
    for what in ("types", "encodings", "features"):
        excluded = claims.excluded(what)
        found = next((name for name in requires.get(what, ()) if name in excluded), None)
        if found is not None:
            return f"{what} {found}"
    types = capability.get("types")
    if "index" in requires and isinstance(types, list) and requires["index"] not in types:
        return f"index {requires['index']}"
    asked = case.manifest["input"].get("args", {})
    for what, words in _ASKING:
        if isinstance(asked.get(what), dict) and not capability.get(what):
            return words
    projection, told = _projection(asked) if op in _READS else None, capability.get("projection")
    if projection is not None and not (isinstance(told, list) and projection in told):
        return f"projection {projection}"
    return next((what for what in _PARTS if what in asked and not capability.get(what)), None)


def _projection(asked: Mapping[str, Any]) -> str | None:
    """Return the kind of columns that are asked for, None when all of them are."""
    if "columns" not in asked:
        return None
    return "nested" if any("." in name for name in asked["columns"]) else "top"


def _steps(case: Case) -> Iterator[tuple[str, ...]]:
    """Yield the operation of each step, with the kind of commit or change it is."""
    for step in case.manifest["input"].get("steps", ()):
        args = step.get("args", {})
        if step["op"] == "mutate":
            yield step["op"], args["verb"]
        else:
            yield step["op"], *args.get("operation", {})


def _claimed(what: tuple[str, ...], claims: Claims) -> bool:
    """Whether an operation is claimed, and the kind of it where the claim lists kinds."""
    capability = claims.capabilities.get(what[0])
    if capability is None:
        return False
    listed = capability.get("operations", capability.get("verbs"))
    return not isinstance(listed, list) or set(what[1:]) <= set(listed)


def contradicts(case: Case, feature: str) -> bool:
    """Whether refusing `feature` takes back something that `hello` claimed and the case named."""
    requires = case.requires
    named: Iterable[str] = (
        main_operation(case),
        requires.get("file_version", ""),
        requires.get("index", ""),
        *requires.get("types", ()),
        *requires.get("encodings", ()),
        *requires.get("features", ()),
    )
    return bool(feature) and feature in named
