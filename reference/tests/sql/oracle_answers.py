"""What the oracle and the reference answer."""

from collections.abc import Iterable
from pathlib import Path

import lance
import pyarrow as pa
import pylanceref

REFUSALS = (ValueError, TypeError, OSError, RuntimeError, pa.ArrowException)
"""What either raises for a scan that cannot be made."""


def _rows_of(dataset, text) -> tuple[list[int] | None, Exception | None]:
    """Return the ids of the rows asked for, or the error."""
    try:
        found = dataset.to_table(columns=[], filter=text, with_row_id=True)
    except REFUSALS as error:
        return None, error
    return found["_rowid"].to_pylist(), None


def differences(uri: Path, texts: Iterable[str]) -> list[str]:
    """Return the filters that the oracle answers otherwise, or refuses as another class."""
    theirs, ours, found = lance.dataset(str(uri)), pylanceref.dataset(uri), []
    for text in texts:
        wanted, refusal = _rows_of(theirs, text)
        rows, error = _rows_of(ours, text)
        names = [kind.__name__ for kind in type(error).__mro__]
        if wanted != rows or (refusal is not None and type(refusal).__name__ not in names):
            found.append(f"{text}: {rows} {error!r}, the oracle {wanted} {refusal!r}")
    return found


def scanned(dataset, scans) -> list[object]:
    """Return what each scan gives: schema and rows, or the error."""
    found: list[object] = []
    for scan in scans:
        try:
            table = dataset.to_table(**scan)
        except REFUSALS as error:
            found.append(error)
        else:
            fields = [(one.name, str(one.type), one.nullable) for one in table.schema]
            found.append((fields, table.to_pydict()))
    return found
