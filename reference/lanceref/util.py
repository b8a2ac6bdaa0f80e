"""Names that pylance keeps in its module of this name (face); each stands in one of its own."""

from __future__ import annotations

from lanceref.clusters import KMeans
from lanceref.self_search import validate_vector_index

__all__ = ["KMeans", "validate_vector_index"]
