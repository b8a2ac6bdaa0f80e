"""Small tables put together by hand."""

from pathlib import Path

from lanceref.proto import table_pb2
from lanceref.storage.manifests.manifest_names import TOP

from .manifests import minimal, to_bytes

FIELDS = [{"name": "a", "id": 0, "parent_id": -1, "logical_type": "int32", "nullable": True}]
"""The column of the worked data file of 2.0."""

FORM = {"file_format": "lance", "version": "2.0"}


def put(root: Path, message: table_pb2.Manifest | None = None) -> Path:
    """Write version 1 of a table."""
    for folder in ("_versions", "data"):
        (root / folder).mkdir(parents=True)
    held = to_bytes(message if message is not None else minimal())
    (root / "_versions" / f"{TOP - 1:020d}.manifest").write_bytes(held)
    return root
