"""The types of storage, by the names that index types have in them."""

from __future__ import annotations

from lanceref.index.vector.flat_storage import FLAT
from lanceref.index.vector.pq_storage import PQ
from lanceref.index.vector.rq_storage import RQ
from lanceref.index.vector.sq_storage import SQ

STORAGES = {one.name: one for one in (FLAT, PQ, SQ, RQ)}
"""Type of storage by its name."""
