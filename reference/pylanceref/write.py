"""Writing: a stream of rows becomes a version of a table (face).

Has the names, arguments and defaults of pylance's `lance.write_dataset`. The rows are written to
data files first; only the commit at the end makes them part of the table.
"""

from __future__ import annotations

import pyarrow as pa

from pylanceref.dataset import LanceDataset
from pylanceref.signatures import parameters
from pylanceref.write_rows import (
    MAX_BYTES_PER_FILE,
    MAX_ROWS_PER_FILE,
    MAX_ROWS_PER_GROUP,
    Destination,
)
from pylanceref.writing import write_fragments, write_table

__all__ = ["write_dataset", "write_fragments"]


@parameters(
    "data_obj uri schema mode * max_rows_per_file max_rows_per_group max_bytes_per_file "
    "data_cache_bytes max_page_bytes commit_lock progress storage_options data_storage_version "
    "use_legacy_format enable_v2_manifest_paths enable_stable_row_ids auto_cleanup_options "
    "commit_message transaction_properties initial_bases target_bases target_all_bases "
    "base_store_params external_blob_mode allow_external_blob_outside_bases "
    "blob_pack_file_size_threshold session",
    enable_v2_manifest_paths=True,
    enable_stable_row_ids=False,
    max_rows_per_file=MAX_ROWS_PER_FILE,
    max_rows_per_group=MAX_ROWS_PER_GROUP,
    max_bytes_per_file=MAX_BYTES_PER_FILE,
    external_blob_mode="reference",
    allow_external_blob_outside_bases=False,
)
def write_dataset(
    data_obj: object,
    uri: Destination | None = None,
    schema: pa.Schema | None = None,
    mode: str = "create",
    **arguments: object,
) -> LanceDataset:
    """Write rows as a new table, as its whole content, or behind what it has; return the result.

    Raises AlreadyExists for mode `create` where a table stands, AppendRefused for another schema,
    CommitConflict when a concurrent commit stands in the way, DataRefused and NotStorable for rows
    that cannot be stored. On any error the table is as it was.
    """
    return write_table(LanceDataset, data_obj, uri, schema, mode, **arguments)  # type: ignore[arg-type]
