"""Data files against the oracle: the same bytes, or each reads the other's."""

from pathlib import Path

import pyarrow as pa
import pytest

from .in_memory import assert_clean_and_owned, assert_reads_as, read_by_oracle, written
from .stored_columns import CASES, COLUMNS, StoredColumn

pytestmark = pytest.mark.oracle


def _is_bound(name: str, version: str) -> bool:
    """Whether our file must be the oracle's, byte for byte.

    Not where it trains tables at random, orders maps and pages by chance, compresses with another
    release of the same codec, or where the version is not final.
    """
    by_chance = name in ("FSST", "pages of structs that do not align") or COLUMNS[name].metadata
    return version != "2.3" and not by_chance


def oracle_file(path: Path, stored: StoredColumn, version: str) -> bytes:
    """Let the oracle write a column, each batch a page where there are several."""
    from lance.file import LanceFileWriter

    small = {"data_cache_bytes": 1024} if stored.batches > 1 else {}
    with LanceFileWriter(str(path), stored.schema, version=version, **small) as writer:
        for part in stored.parts():
            writer.write_batch(part)
    return path.read_bytes()


@pytest.mark.parametrize(("name", "version"), CASES)
def test_what_the_oracle_writes_is_ours_or_is_read_clean_and_owned(name, version, tmp_path):
    """The same bytes where they are bound; else values, no finding, an owner for every byte."""
    stored = COLUMNS[name]
    theirs = oracle_file(tmp_path / "f", stored, version)
    ours = written(stored.parts(), version, cache_bytes=1024 if stored.batches > 1 else None)

    assert theirs == ours or not _is_bound(name, version)
    if theirs != ours:
        assert_reads_as(stored.array, theirs)
        assert_clean_and_owned(theirs)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_the_oracle_reads_what_may_be_written_otherwise(version, tmp_path):
    """In a process of its own, as it may abort."""
    paths = {}
    for name in (name for name, of in CASES if of == version and not _is_bound(name, version)):
        paths[name] = tmp_path / f"{len(paths)}"
        paths[name].write_bytes(written(COLUMNS[name].parts(), version))

    for name, read in zip(paths, read_by_oracle([*paths.values()]), strict=True):
        assert _storage(COLUMNS[name].array).to_pylist() == _storage(read).to_pylist(), name


def _storage(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column without its extension type, which a library may have registered."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.storage if isinstance(array, pa.ExtensionArray) else array
