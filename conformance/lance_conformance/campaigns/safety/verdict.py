"""Verdict on a table that many wrote: read by both implementations, validated, cleaned up."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection

import lanceref
import pyarrow as pa

from lance_conformance.campaigns.safety.deeds import faults
from lance_conformance.campaigns.safety.writers import Ledger, engine_named


def verdict(
    uri: str, ledger: Ledger, numbers: int, options: dict[str, str], first: int | None = 1
) -> Iterator[str]:
    """Yield what is wrong with a table after the deeds in a ledger.

    Its versions begin with `first`; None where a cleanup was.
    """
    yield from ledger.errors
    ours, reading = (_read(name, uri, options) for name in ("lanceref", "oracle"))
    if isinstance(ours, str) or isinstance(reading, str):
        yield f"{ours if isinstance(ours, str) else reading}"
        return
    (own, versions), (theirs, others) = ours, reading
    if not own.equals(theirs):
        yield "the two implementations read different rows"
    start = versions[0] if first is None else first
    if versions != others or versions != list(range(start, start + len(versions))):
        yield f"versions {versions}, to the oracle {others}"
    ids = own["_rowid"].to_pylist()
    if len(set(ids)) != len(ids):
        yield "a row id occurs twice"
    yield from faults(own, ledger.done, ledger.doubtful, numbers)


def unwell(path: str) -> Iterator[str]:
    """Yield the findings of a validation of the latest version, files and all."""
    for finding in lanceref.validate(path, deep=True):
        yield f"validation: {finding}"


Reading = tuple[pa.Table, list[int]]


def _read(engine: str, uri: str, options: dict[str, str]) -> Reading | str:
    """Return the rows by id and the versions that an implementation sees, or its error."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_tell, args=(theirs, engine, uri, options), daemon=True)
    process.start()
    theirs.close()
    try:
        found: Reading | str = ours.recv()
    except EOFError:
        found = f"{engine} died reading"
    process.join()
    return found


def _tell(pipe: Connection, engine: str, uri: str, options: dict[str, str]) -> None:
    """Read every version, and send what the latest holds."""
    try:
        table = engine_named(engine).dataset(
            uri, **({"storage_options": options} if options else {})
        )
        versions = [one["version"] for one in table.versions()]
        for version in versions:
            table.checkout_version(version).count_rows("n >= 0")
        pipe.send((table.to_table(with_row_id=True).sort_by("_rowid"), versions))
    except (OSError, ValueError, RuntimeError) as error:
        pipe.send(f"{engine}: {type(error).__name__}: {error}")
