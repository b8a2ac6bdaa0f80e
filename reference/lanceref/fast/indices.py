"""Fast forms of what searches indices; importing this module registers all of them."""

from lanceref.fast import bm25, hnsw_search, nearest_rows, postings, vectors

__all__ = ["bm25", "hnsw_search", "nearest_rows", "postings", "vectors"]
