"""Fast forms of what searches indices; importing this module registers all of them."""

from lanceref.fast import hnsw_search, nearest_rows, postings, product_sums, vectors

__all__ = ["hnsw_search", "nearest_rows", "postings", "product_sums", "vectors"]
