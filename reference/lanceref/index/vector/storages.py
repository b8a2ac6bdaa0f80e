"""The types of storage, by the names that index types have in them."""

from __future__ import annotations

from lanceref.index.vector.flat_storage import FLAT

STORAGES = {one.name: one for one in (FLAT,)}
"""Type of storage by its name."""
