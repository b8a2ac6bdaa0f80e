"""Writers of random tables: the reference and the oracle, and the errors of their writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3, FileVersion
from pylanceref.file import LanceFileWriter

from lance_conformance.guarded_call import guarded
from lance_conformance.oracle import lance_file
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.unsliced import unsliced
from lance_conformance.specification.known_divergences import find

VERSIONS = {str(version): version for version in (V0_1, V2_0, V2_1, V2_2, V2_3)}
"""File versions of random tables, by name."""


class Sample(Protocol):
    """A table to be written in `version`, with options: see `lanceref_testing.tables.Sample`."""

    @property
    def table(self) -> pa.Table:
        """The rows."""

    @property
    def version(self) -> FileVersion:
        """The version of the file."""

    @property
    def batch_rows(self) -> int:
        """Rows of each batch."""

    @property
    def cache_bytes(self) -> int | None:
        """Bytes that a writer may buffer before it starts a page; None: its default."""


def write_by_oracle(sample: Sample, path: Path) -> str | None:
    """Write a sample by the oracle; return its error, or None."""
    options = {} if sample.cache_bytes is None else {"data_cache_bytes": sample.cache_bytes}

    def write_batches() -> None:
        with lance_file().LanceFileWriter(
            str(path), sample.table.schema, version=str(sample.version), **options
        ) as writer:
            for batch in batches(sample):
                writer.write_batch(batch)

    return refusal_of(write_batches)


def refusal_of(write: Callable[[], object]) -> str | None:
    """Return the error of a write by the oracle, or None."""
    return guarded(write, (OSError, ValueError, RuntimeError)).error or None


def batches(sample: Sample) -> Iterable[pa.RecordBatch]:
    """Yield the batches of a table; those with an odd number of rows are slices of flat types."""
    sliceable = sample.batch_rows % 2 and all(map(_is_flat, sample.table.schema.types))
    for batch in sample.table.to_batches(max_chunksize=sample.batch_rows):
        yield from [batch] if sliceable else unsliced(pa.table(batch)).to_batches()


def _is_flat(type_: pa.DataType) -> bool:
    """Whether no list, struct or map is in a type; a vector counts as a value."""
    return pa.types.is_fixed_size_list(type_) or not pa.types.is_nested(type_)


def is_oracle_defect(error: str, theirs: Path, sample: Sample, child: OracleChild) -> bool:
    """Whether the oracle cannot read its own file of these rows either."""
    if find("files/written", detail=error) is None:
        return False
    return theirs.exists() and child.difference(theirs, sample.table) is not None


def write_by_reference(sample: Sample, path: Path) -> str | None:
    """Write a sample by the reference; return its error, or None."""
    try:
        with LanceFileWriter(
            path,
            sample.table.schema,
            version=str(sample.version),
            data_cache_bytes=sample.cache_bytes,
        ) as writer:
            for batch in batches(sample):
                writer.write_batch(batch)
    except (LanceError, ValueError) as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None
