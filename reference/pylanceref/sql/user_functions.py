"""Functions that Lance adds to those of DataFusion: documents, geometries and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.errors import LanceError, QueryFailed
from lanceref.core.query_limits import calling
from lanceref.index.full_text.tokenizers import simple
from lanceref.json.documents import document

from pylanceref.sql.geometry_functions import MADE, MEASURES, RELATIONS, binary, related
from pylanceref.sql.json_functions import JSON_FUNCTIONS

if TYPE_CHECKING:
    from datafusion import ScalarUDF, SessionContext

Note = Callable[[LanceError], None]
"""Keeps the error of a function."""

BINARY_HEADERS = (b"\x80", b"\x40", b"\x20\0")
"""First bytes of documents in binary form; a text has none of them."""


def register(session: SessionContext, note: Note) -> dict[str, ScalarUDF]:
    """Register the functions with a session and return them by name."""
    from datafusion import udf

    found = {}

    def add(
        name: str,
        function: Callable[..., pa.Array],
        arguments: list[pa.DataType],
        returned: pa.DataType,
    ) -> None:
        found[name] = udf(_noted(function, note), arguments, returned, "immutable", name)
        session.register_udf(found[name])

    for name, (one, count, returned) in JSON_FUNCTIONS.items():
        arguments = [pa.large_binary(), *[pa.utf8()] * (count - 1)]
        add(name, _of_documents(one, returned), arguments, returned)
    for name in (*RELATIONS, *MEASURES):
        returned = pa.bool_() if name in RELATIONS else pa.float64()
        add(name, _relation(name), [pa.binary(), pa.binary()], returned)
    for name in MADE:
        add(name, binary, [pa.binary()], pa.binary())
    add("contains_tokens", contains_tokens, [pa.utf8(), pa.utf8()], pa.bool_())
    return found


def _noted(function: Callable[..., pa.Array], note: Note) -> Callable[..., pa.Array]:
    """Return a function with a budget of its own whose errors are kept."""

    def run(*arguments: pa.Array) -> pa.Array:
        try:
            with calling(QueryFailed):
                return function(*arguments)
        except LanceError as error:
            note(error)
            raise

    return run


def _of_documents(function: Callable[..., object], type_: pa.DataType) -> Callable[..., pa.Array]:
    """Return a function of columns for one of a document and more; null where one of them is."""

    def run(*columns: pa.Array) -> pa.Array:
        rows = zip(*(one.to_pylist() for one in columns), strict=True)
        found = [
            None if None in row else function(document(_held(row[0])), *row[1:]) for row in rows
        ]
        return pa.array(found, type_)

    return run


def _held(data: bytes) -> str | bytes:
    """Return a document as text, or as bytes where it is in binary form."""
    return data if data.startswith(BINARY_HEADERS) else data.decode("utf-8", "replace")


def _relation(name: str) -> Callable[..., pa.Array]:
    return lambda left, right: related(name, left, right)


def contains_tokens(texts: pa.Array, wanted: pa.Array) -> pa.Array:
    """Return whether each text has every word of another; null where one of them is null.

    A word is a run of letters and digits of any script, as it is written.

    Divergences: D.query.contains-tokens-nothing
    """
    sides = ([_words(one) for one in side.to_pylist()] for side in (texts, wanted))
    found = [
        None if one is None or other is None else other <= one
        for one, other in zip(*sides, strict=True)
    ]
    return pa.array(found, pa.bool_())


def _words(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(simple(text)[0])
