"""Names of pylance's compiled module: compaction by tasks, and manifests to migrate (face)."""

from __future__ import annotations

from lanceref.transactions.fragment_operations import is_complete

from pylanceref.optimize import Compaction
from pylanceref.table_handle import OpenTable

__all__ = ["Compaction", "manifest_needs_migration"]


def manifest_needs_migration(dataset: OpenTable) -> bool:
    """Whether the next commit completes the manifest, as an early release left things out."""
    message = dataset._snapshot.manifest.message
    named = message.HasField("writer_version")
    return not all(is_complete(one, named=named) for one in message.fragments)
