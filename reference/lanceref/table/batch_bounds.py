"""Bounds of batches: what the 0.1 files of a fragment say of the values in each batch.

A reader skips by them and never needs them: statistics that cannot be read are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import BytesError
from lanceref.file.schema import Field
from lanceref.file_0_1.data_file import LegacyFile
from lanceref.file_0_1.statistics import parse_statistics
from lanceref.table.columns import FragmentReader


@dataclass(frozen=True, slots=True)
class BatchBounds:
    """Of one field, for each batch: its first row and the one behind its last, nulls and ends."""

    offsets: NDArray[np.int64]
    nulls: pa.Array
    least: pa.Array
    greatest: pa.Array

    @property
    def rows(self) -> pa.Array:
        """Rows of each batch: int64."""
        return pa.array(np.diff(self.offsets), pa.int64())


def batch_bounds(
    reader: FragmentReader, fields: Sequence[Field]
) -> Iterator[tuple[Field, BatchBounds]]:
    """Yield the bounds of those fields that a file of the fragment has statistics of."""
    for file in reader.fragment.files:
        held = [field for field in fields if field.id in file.columns]
        opened = reader.open(file) if held else None
        if isinstance(opened, LegacyFile):
            with suppress(BytesError):
                yield from _of_file(opened, held)


def _of_file(opened: LegacyFile, fields: Sequence[Field]) -> Iterator[tuple[Field, BatchBounds]]:
    metadata = opened.metadata
    end = metadata.extent if opened.manifest is None else opened.manifest.extent
    found = parse_statistics(opened.bytes, metadata, end.offset)
    for field in fields:
        stored = None if found is None else found.by_field.get(str(field.id))
        if stored is not None and stored.type.field(1).type == field.arrow.type:
            nulls, least, greatest = stored.flatten()
            offsets = np.asarray(metadata.batch_offsets, np.int64)
            yield field, BatchBounds(offsets, nulls, least, greatest)
