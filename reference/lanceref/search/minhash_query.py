"""MinHash query: the rows whose text has much in common with another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class MinHashQuery:
    """A search for rows like `text` in a column that has a MINHASHLSH index.

    Given as `nearest`; rows have `_distance`, 1 less the share of their signatures that is equal,
    and come by it. There are as many as the scan's limit says, 10 without one.
    """

    text: str
    column: str
