"""Referenced files: the files that the versions of a table name, and the files that exist.

Unreferenced and missing files follow from the messages of the manifests, independently of the code
of the cleanup.
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


def unreferenced_files(root: Path, uri: str = "") -> set[str]:
    """Return the paths, below the root, of the files that nothing references.

    `uri` is the original root of the table where `root` is a copy.
    """
    return _existing(root) - _referenced(root, uri)


def missing_files(root: Path, uri: str = "") -> set[str]:
    """Return the paths of the files that a version references and that do not exist."""
    missing = _referenced(root, uri) - _existing(root)
    return {path for path in missing if not path.startswith("_transactions/")}


def _existing(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _referenced(root: Path, uri: str) -> set[str]:
    """Return the files of all versions of all branches, and the files of references."""
    paths = {str(path.relative_to(root)) for path in root.glob("_refs/*/*.json")}
    tables = [root, *(path.parent for path in root.glob("tree/**/_versions"))]
    for table in tables:
        hint = table.relative_to(root) / "_versions" / "latest_version_hint.json"
        paths |= {str(hint)} & _existing(root)
        for path in table.glob("_versions/*.manifest"):
            paths.add(str(path.relative_to(root)))
            manifest = open_manifest(LocalSource(str(path)), Context(path.name))
            for base, name in _names_in(manifest, root, uri):
                parent = table if base is None else base
                # of an index all files of its folder
                files = (parent / name).rglob("*") if (parent / name).is_dir() else [parent / name]
                if parent.is_relative_to(root):
                    paths |= {str(one.relative_to(root)) for one in files if not one.is_dir()}
    return paths


def _names_in(manifest: Manifest, root: Path, uri: str) -> Iterator[tuple[Path | None, str]]:
    """Yield the base root (None: the table) and the name of each file or folder of a version."""
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
            deletions = fragment.deletion_file
            base = bases.get(deletions.base_id) if deletions.HasField("base_id") else None
            yield base, deletion_path(fragment.id, deletions, Place("manifest", 0))
    for index in manifest.indices:
        yield None, f"_indices/{UUID(bytes=bytes(index.uuid.uuid))}"
