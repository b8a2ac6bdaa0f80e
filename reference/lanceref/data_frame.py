"""Data frames: the rows of a scan for pandas, blobs as files (face).

Has the arguments of pylance's `to_pandas`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from lanceref.blob import BlobFile
from lanceref.scanner import LanceScanner
from lanceref.table.rows import ROW_ADDRESS
from lanceref.take_blobs import locate_blobs

if TYPE_CHECKING:
    import pandas as pd

MODES = ("lazy", "bytes", "descriptions")
"""What blobs become: files, their bytes, or where they lie."""


def data_frame(scan: LanceScanner, mode: str, options: Mapping[str, object]) -> pd.DataFrame:
    """Return the rows of a scan; `options` are those of pyarrow. Raises ValueError."""
    if mode not in MODES:
        raise ValueError(f"blob_mode must be one of: {', '.join(map(repr, MODES))}")
    blobs = [] if mode == "descriptions" else _blob_columns(scan)
    if not blobs:
        return scan.to_table().to_pandas(**options)
    table = scan.with_addresses().to_table()
    addresses = table[ROW_ADDRESS].combine_chunks()
    frame = table.select(scan.projected_schema.names).to_pandas(**options)
    for name in blobs:
        found = locate_blobs(scan._snapshot, name, None, addresses, None)
        files = [None if blob is None else BlobFile(blob) for _, blob in found]
        frame[name] = [one if mode == "lazy" or one is None else one.read() for one in files]
    return frame


def _blob_columns(scan: LanceScanner) -> list[str]:
    """Return the columns of a table whose blobs the scan returns as descriptions."""
    declared = {field.name: field for field in scan._snapshot.manifest.schema.fields}
    return [
        field.name
        for field in scan._projection.storage
        if pa.types.is_struct(field.type)
        and field.name in declared
        and (declared[field.name].is_blob or declared[field.name].is_blob_v2)
    ]
