"""Needed files: what the versions of a table name, beside what lies below its root.

Files that nothing needs, and those that are needed and not there, are counted from the messages of
the manifests, apart from how a cleanup goes about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.storage import LocalSource
from lanceref.table.deletions import deletion_path
from lanceref.table.manifest import Manifest, open_manifest


def residue(root: Path, uri: str = "") -> set[str]:
    """Return the files that nothing needs, by their paths below the root.

    `uri` is what the table calls its root where the files are copies.
    """
    return _there(root) - _needed(root, uri)


def missing(root: Path, uri: str = "") -> set[str]:
    """Return the files that a version needs and that are not there."""
    lacking = _needed(root, uri) - _there(root)
    return {path for path in lacking if not path.startswith("_transactions/")}


def _there(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _needed(root: Path, uri: str) -> set[str]:
    """Return the files of all versions of all branches, and those that name versions."""
    needed = {str(path.relative_to(root)) for path in root.glob("_refs/*/*.json")}
    tables = [root, *(path.parent for path in root.glob("tree/**/_versions"))]
    for table in tables:
        below = table.relative_to(root)
        hint = below / "_versions" / "latest_version_hint.json"
        needed |= {str(hint)} & _there(root)
        for path in table.glob("_versions/*.manifest"):
            needed.add(str(path.relative_to(root)))
            manifest = open_manifest(LocalSource(str(path)), Context(path.name))
            for base, name in _named(manifest, root, uri):
                home = table if base is None else base
                # of an index all files of its folder
                found = (home / name).rglob("*") if (home / name).is_dir() else [home / name]
                if home.is_relative_to(root):
                    needed |= {str(one.relative_to(root)) for one in found if not one.is_dir()}
    return needed


def _named(manifest: Manifest, root: Path, uri: str) -> Iterator[tuple[Path | None, str]]:
    """Yield the files and folders that a version names, and the roots of their bases."""
    message = manifest.message
    bases = {
        one.id: Path(one.path.replace(uri, f"{root}") if uri else one.path)
        for one in message.base_paths
    }
    if message.transaction_file:
        yield None, f"_transactions/{message.transaction_file}"
    for fragment in message.fragments:
        for file in fragment.files:
            yield bases.get(file.base_id) if file.HasField("base_id") else None, f"data/{file.path}"
        if fragment.HasField("deletion_file"):
            gone = fragment.deletion_file
            base = bases.get(gone.base_id) if gone.HasField("base_id") else None
            yield base, deletion_path(fragment.id, gone, Place("manifest", 0))
    for index in manifest.indices:
        yield None, f"_indices/{UUID(bytes=bytes(index.uuid.uuid))}"
