"""Moved ids: the segments in which an update writes down the ids of the rows it moves.

A segment ends where the batch does in which the rows were read: with the fragment, and with each
run of its rows. Where columns are read only after the filter has passed (2.x: those of 10 bytes and
more and those without a width, beside its own), the rows of all fragments come in batches together,
unless an index has found them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.file_versions import V0_1
from lanceref.file.schema import Field
from lanceref.operations.delete import Chosen
from lanceref.operations.new_rows import Ids
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.transactions.manifest_builder import storage_version_of

BATCH_ROWS = 8192
"""Rows of a batch of 2.x."""

GROUP_ROWS = 1024
"""Rows of a batch of 0.1."""

LATE_BYTES = 10
"""Columns of this width and more are read late."""


def moved_segments(
    snapshot: Snapshot, chosen: Chosen, ids: list[Ids], wanted: Condition | None
) -> list[Ids]:
    """Return the ids of the chosen rows, which came in any parts, by segments."""
    every = np.concatenate([np.empty(0, np.uint64), *ids])
    legacy = storage_version_of(snapshot.manifest.message) == V0_1
    if wanted is not None and not legacy and _reads_late(snapshot, wanted):
        return np.split(every, np.arange(BATCH_ROWS, len(every), BATCH_ROWS))
    cuts = _cuts(chosen, GROUP_ROWS if legacy else BATCH_ROWS)
    return np.split(every, np.concatenate([np.empty(0, np.int64), *cuts]))


def _cuts(chosen: Chosen, run: int) -> Iterator[NDArray[np.int64]]:
    """Yield where among all chosen rows another fragment or another run begins."""
    start = 0
    for rows, positions in chosen:
        runs = rows.offsets(positions) // run
        yield start + np.flatnonzero(np.diff(runs, prepend=-1))
        start += len(positions)


def _reads_late(snapshot: Snapshot, wanted: Condition) -> bool:
    if any(source.explained for source in wanted.sources):  # an index has said where rows are
        return False
    asked = {one.id for field in wanted.projection.fields for one in field.flat()}
    fields = snapshot.manifest.schema.fields
    return any(one.id not in asked and _is_wide(one.arrow.type) for one in _leaves(fields))


def _leaves(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Yield fields that are no structs, and those of structs."""
    for field in fields:
        if pa.types.is_struct(field.arrow.type):
            yield from _leaves(field.children)
        else:
            yield field


def _is_wide(kind: pa.DataType) -> bool:
    """Whether values have no width in whole bytes, or one of many."""
    if pa.types.is_fixed_size_list(kind):
        width = kind.list_size
        return _is_wide(kind.value_type) or width * kind.value_type.bit_width // 8 >= LATE_BYTES
    try:
        bits = kind.bit_width
    except ValueError:  # it has none
        return True
    return bool(bits % 8 or bits // 8 >= LATE_BYTES)
