"""What may be handed over to be written, under the names pylance has for it (face)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Union

import pyarrow as pa

from pylanceref.input_rows import reader_of as _coerce_reader

if TYPE_CHECKING:
    import pandas as pd

    from pylanceref.dataset import LanceDataset
    from pylanceref.scanner import LanceScanner

__all__ = ["ReaderLike", "_coerce_reader"]

ReaderLike = Union[
    pa.Table,
    pa.RecordBatch,
    pa.RecordBatchReader,
    "pa.dataset.Dataset",
    "pa.dataset.Scanner",
    "pd.DataFrame",
    "LanceDataset",
    "LanceScanner",
    Iterable[pa.RecordBatch],
]
"""Rows as a table, a batch, a stream, a frame or a table that is scanned."""
