"""Fast forms of what searches indices; importing this module registers all of them."""

from lanceref.fast import (
    bm25,
    byte_products,
    hnsw_search,
    nearest_rows,
    postings,
    sign_sums,
    vectors,
)

__all__ = [
    "bm25",
    "byte_products",
    "hnsw_search",
    "nearest_rows",
    "postings",
    "sign_sums",
    "vectors",
]
