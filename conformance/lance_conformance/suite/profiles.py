"""Profiles: the part of the suite that a case belongs to, derived from its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NEGATIVE_KINDS = frozenset({"negative-file", "negative-dataset"})
"""Kinds whose bytes must be refused."""

CORE_KINDS = NEGATIVE_KINDS | {
    "read-file",
    "read-dataset",
    "take",
    "inspect",
    "metadata",
    "forward",
}
"""Kinds of the profile core: reading of files and tables."""

UNSTABLE_VERSIONS = frozenset({"2.3"})
"""File versions that may still change; their cases are run and shown, never scored."""


def is_active(manifest: Mapping[str, Any]) -> bool:
    """Whether a case counts: neither a draft nor withdrawn."""
    return bool(manifest.get("status", "active") == "active")


def profile(manifest: Mapping[str, Any]) -> str:
    """Return the profile that owns a case: `robust`, `unstable` or `format`."""
    if manifest["kind"] == "robust":
        return "robust"
    version = manifest["requires"].get("file_version")
    return "unstable" if version in UNSTABLE_VERSIONS else "format"


def counts(manifests: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of active cases in each profile, and in `all`."""
    found = {"core": 0, "format": 0, "unstable": 0, "all": 0}
    for manifest in manifests:
        if is_active(manifest):
            owner = profile(manifest)
            found[owner] = found.get(owner, 0) + 1
            found["core"] += is_core(manifest)
            found["all"] += 1
    return found


def is_core(manifest: Mapping[str, Any]) -> bool:
    """Whether a case belongs to the profile `core`: reading of files and tables, less indices."""
    needed = manifest["kind"] in CORE_KINDS and "index" not in manifest["requires"]
    return needed and profile(manifest) == "format"
