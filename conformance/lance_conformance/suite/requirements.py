"""Requirements: whether an adapter's `hello` claims everything that a case needs.

A case that is not claimed is never sent; it is reported as unsupported, with the first missing
requirement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lance_conformance.protocol.session import Claims
from lance_conformance.suite.cases import Case

_CLAIMED_ARGUMENTS = (
    ("filter", "filters"),
    ("text", "full-text queries"),
    ("nearest", "vector queries"),
)
"""Arguments that are claimed by name, and their descriptions."""

_PARTIAL_READS = ("ranges", "rows")
"""Arguments of a partial read of a file, claimed by their own name."""

_READS = ("file.read", "dataset.read")
"""Operations that claim the supported projections."""


def main_operation(case: Case) -> str:
    """Return the main operation of a case."""
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


def missing_requirement(case: Case, claims: Claims) -> str | None:
    """Return the first requirement of a case that is not claimed, None when all are."""
    requires, op = case.requires, main_operation(case)
    if op not in claims.capabilities:
        return f"operation {op}"
    unclaimed = next((what for what in _steps(case) if not _is_claimed(what, claims)), None)
    if unclaimed is not None:
        return f"operation {' '.join(unclaimed)}"
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
    args = case.manifest["input"].get("args", {})
    for what, words in _CLAIMED_ARGUMENTS:
        if isinstance(args.get(what), dict) and not capability.get(what):
            return words
    projection, projections = (
        _projection(args) if op in _READS else None,
        capability.get("projection"),
    )
    if projection is not None and not (isinstance(projections, list) and projection in projections):
        return f"projection {projection}"
    return next(
        (what for what in _PARTIAL_READS if what in args and not capability.get(what)), None
    )


def _projection(args: Mapping[str, Any]) -> str | None:
    """Return the kind of projection in the arguments, None for all columns."""
    if "columns" not in args:
        return None
    return "nested" if any("." in name for name in args["columns"]) else "top"


def _steps(case: Case) -> Iterator[tuple[str, ...]]:
    """Yield the operation of each step, with the kind of commit or change."""
    for step in case.manifest["input"].get("steps", ()):
        args = step.get("args", {})
        if step["op"] == "mutate":
            yield step["op"], args["verb"]
        else:
            yield step["op"], *args.get("operation", {})


def _is_claimed(what: tuple[str, ...], claims: Claims) -> bool:
    """Whether an operation is claimed, with its kind where the claim lists kinds."""
    capability = claims.capabilities.get(what[0])
    if capability is None:
        return False
    listed = capability.get("operations", capability.get("verbs"))
    return not isinstance(listed, list) or set(what[1:]) <= set(listed)


def contradicts_claims(case: Case, feature: str) -> bool:
    """Whether not supporting `feature` contradicts a claim of `hello` that the case requires."""
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
