"""JSON values: what one path finds in the documents of a column, as a column of its own.

The first value that is there says the type: whole numbers of 64 bits, floats, text or truth
values. All others must be of it; among floats a whole number counts as one. What is nowhere, and
the null of JSON, is null.

Clauses: L.index.json.type
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import OperationRefused, Place, QueryFailed
from lanceref.file.schema import schema_of
from lanceref.index.training import Held, Run, Training
from lanceref.json import jsonb
from lanceref.json.documents import document
from lanceref.json.json_path import Json, members_of, parse_path, select
from lanceref.json.jsonb_column import column_at

_DOCUMENTS = Place("documents of a json column", 0, 0)

_INT64 = range(-(2**63), 2**63)


def extract(training: Training, path: str, type_: pa.DataType | None = None) -> Training:
    """Return what a path finds in the rows of a json column, as values of `type_` if that is known.

    Raises OperationRefused, QueryFailed, FormatError.
    """
    held = _at_once(training, path, type_) or _one_by_one(training, path, type_)
    own = held[0].values.type if held else type_ or pa.utf8()
    (field,) = schema_of(pa.schema([pa.field("value", own)])).fields
    return Held(field, training.fragments, training.stable_row_ids, training.by_address, held)


def _at_once(training: Training, path: str, type_: pa.DataType | None) -> list[Run] | None:
    """Return the rows with the values of their documents, None where those take a closer look."""
    names = members_of(path)
    if names is None:
        return None
    held: list[Run] = []
    for run in training.runs():
        values = column_at(run.values, names)
        if values is None:
            return None
        held.append(replace(run, values=values))
    found = {run.values.type for run in held} - {pa.null()}
    own = type_ or next(iter(found), pa.utf8())
    if found - {own}:
        return None
    return [replace(run, values=run.values.cast(own)) for run in held]


def _one_by_one(training: Training, path: str, type_: pa.DataType | None) -> list[Run]:
    """Return the rows with the values of their documents, whatever these hold."""
    runs = list(training.runs())
    found = [list(found_in(run.values, path)) for run in runs]
    first = next((one for values in found for one in values if one is not None), None)
    own = type_ or (pa.utf8() if first is None else type_of(first, path))
    return [
        replace(run, values=pa.array([_as(one, own, path) for one in values], own))
        for run, values in zip(runs, found, strict=True)
    ]


def found_in(documents: pa.Array, path: str) -> Iterator[Json]:
    """Yield what a path finds in each document; more than one value are an array."""
    steps = parse_path(path)
    for text in _texts(documents):
        values = [] if text is None else select(document(text), steps)
        yield values if len(values) > 1 else values[0] if values else None


def _texts(documents: pa.Array) -> Iterable[str | None]:
    """Return documents as text; stored they are binary."""
    held: Iterable[str | None]
    held = jsonb.texts(documents, Context(_DOCUMENTS.file), _DOCUMENTS).to_pylist()
    return held


def type_of(value: Json, path: str) -> pa.DataType:
    """Return the type of a column with a value. Raises OperationRefused for no single value."""
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int | float):
        return pa.int64() if isinstance(value, int) and value in _INT64 else pa.float64()
    if isinstance(value, str):
        return pa.utf8()
    kind = "Array" if isinstance(value, list) else "Object"
    raise OperationRefused(f"JSON path {path!r} leads to an {kind}; only single values are indexed")


def _as(value: Json, type_: pa.DataType, path: str) -> Json:
    """Return a value as one of a type. Raises OperationRefused for one of another."""
    if value is None:
        return None
    own = type_of(value, path)
    if own != type_ and not (own == pa.int64() and type_ == pa.float64()):
        raise OperationRefused(f"JSON path {path!r} leads to values of {type_} and of {own}")
    return float(value) if isinstance(value, int) and type_ == pa.float64() else value


def check_path(path: str) -> None:
    """Raise OperationRefused for what is no path."""
    try:
        parse_path(path)
    except QueryFailed as error:
        raise OperationRefused(f"{error}") from error
