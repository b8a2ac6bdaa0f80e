"""Version of a table: its manifest, found by number or by name.

Clauses: L.table.naming.latest
"""

from __future__ import annotations

from dataclasses import replace

from lanceref.core.context import Context
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import VersionName, find_version
from lanceref.table.manifest import Manifest, open_manifest


def open_named(store: Store, name: VersionName, ctx: Context) -> Manifest:
    """Open a manifest by its name. Raises NotFound, FormatError."""
    return open_manifest(store.open(name.path), replace(ctx, file=name.name))


def open_version(store: Store, version: int | None, ctx: Context) -> Manifest:
    """Open a version of a table, None for the latest. Raises NotFound, FormatError."""
    return open_named(store, find_version(store, ctx, version), ctx)
