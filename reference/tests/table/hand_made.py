"""Small tables put together by hand: a manifest, and files with chosen columns."""

from __future__ import annotations

from pathlib import Path

from lanceref.proto import table_pb2
from lanceref.table.naming import TOP

from .manifests import minimal, to_bytes


def put(root: Path, message: table_pb2.Manifest | None = None, **files: bytes) -> Path:
    """Write version 1 of a table, and files by path (with `/` as `__`)."""
    versions = root / "_versions"
    versions.mkdir(parents=True, exist_ok=True)
    held = to_bytes(message if message is not None else minimal())
    (versions / f"{TOP - 1:020d}.manifest").write_bytes(held)
    for name, data in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root
