"""Verdict on a table that many wrote: read by both implementations, validated, cleaned up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

import lanceref
import pyarrow as pa
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.faults.deeds import faults
from lance_conformance.campaigns.faults.writers import Ledger, clean_processes, engine_named


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


def unwell(uri: str, options: dict[str, str]) -> list[str]:
    """Return the findings of a validation of the latest version, files and all."""
    return apart(_findings, uri, options)


def _findings(uri: str, options: dict[str, str]) -> list[str]:
    found = lanceref.validate(uri, deep=True, storage_options=options or None)
    return [f"validation: {finding}" for finding in found]


Reading = tuple[pa.Table, list[int]]


def _read(engine: str, uri: str, options: dict[str, str]) -> Reading | str:
    """Return the rows by id and the versions that an implementation sees, or its error."""
    found = apart(_reading, engine, uri, options)
    return f"{engine}: {found[0]}" if isinstance(found, list) else found


def _reading(engine: str, uri: str, options: dict[str, str]) -> Reading:
    """Read every version; return what the latest holds."""
    table = engine_named(engine).dataset(uri, **({"storage_options": options} if options else {}))
    versions = [one["version"] for one in table.versions()]
    for version in versions:
        table.checkout_version(version).count_rows("n >= 0")
    return table.to_table(with_row_id=True).sort_by("_rowid"), versions


R = TypeVar("R")
P = ParamSpec("P")


def apart(act: Callable[P, R], *given: P.args, **named: P.kwargs) -> R | list[str]:
    """Do something in a process of its own; return its result, or its error as a list of one."""
    context = clean_processes()
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs, act, given, named), daemon=True)
    process.start()
    theirs.close()
    try:
        found: R | list[str] = ours.recv()
    except EOFError:
        found = ["the process died"]
    process.join()
    return found


def _answer(
    pipe: Connection,
    act: Callable[..., object],
    given: tuple[object, ...],
    named: dict[str, object],
) -> None:
    try:
        pipe.send(act(*given, **named))
    except (OSError, ValueError, RuntimeError, LanceError) as error:
        pipe.send([f"{type(error).__name__}: {error}"])
