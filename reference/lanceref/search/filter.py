"""Filters: a condition on rows as a search receives it.

A row passes where the filter is true; null is not true. A filter is a callable on batches; what of
it an index or the bounds of a batch can answer comes with it as a structure.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.search.predicate import Predicate

Mask = NDArray[np.bool_]


class Filter(Protocol):
    """A condition on rows."""

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    @property
    def predicate(self) -> Predicate | None:
        """What is known of its structure, None when nothing is."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it passes: bool."""
