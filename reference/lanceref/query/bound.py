"""Bound expressions: what a query's expression has become over the columns of a schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.query.budget import calling, charge
from lanceref.query.casts import Datum, cast, try_cast

Run = Callable[[pa.RecordBatch], Datum]

KEEPING = ("coalesce", "greatest", "least", "nullif")
"""Functions that return one of their arguments."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An expression over the columns of a schema.

    `run` gives an array of a batch's rows or a scalar; `literal` is its value where it has no
    column; `columns` are the names of the columns it reads and `paths` the parts of them, `a.b`;
    `is_column` says that it is one, and `nullable` that its value can be null. `dictionary` is the
    type of the result where that is a dictionary of such values.
    """

    type: pa.DataType
    run: Run
    paths: frozenset[str]
    columns: frozenset[str]
    literal: pa.Scalar | None = None
    is_column: bool = False
    nullable: bool = True
    dictionary: pa.DictionaryType | None = None

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises QueryFailed."""
        with calling(QueryFailed):
            value = self.run(batch)
            if isinstance(value, pa.Scalar):
                return repeated(value, batch.num_rows)
            return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value


def repeated(value: pa.Scalar, rows: int) -> pa.Array:
    """Return a value for each of some rows. Raises QueryTooLarge."""
    one = pa.repeat(value, 1)
    charge(one.get_total_buffer_size() * (rows - 1))
    return pa.repeat(value, rows)


def kept_dictionary(name: str, arguments: Sequence[Bound]) -> pa.DictionaryType | None:
    """Return the type of dictionary in which a function returns one of its arguments.

    Of columns and literals, where a column has one: the widest, but only `coalesce` takes several.
    """
    if name not in KEEPING:
        return None
    found = {one.dictionary for one in arguments if one.dictionary is not None}
    computed = [one for one in arguments if one.dictionary is None and one.literal is None]
    if not all(one.is_column for one in computed) or (len(found) > 1 and name != "coalesce"):
        return None
    return max(found, key=lambda one: one.index_type.bit_width, default=None)


def encoded(bound: Bound) -> Bound:
    """Return an expression with its values in a dictionary, where that is its result."""
    type_ = bound.dictionary
    if type_ is None:
        return bound

    def run(batch: pa.RecordBatch) -> Datum:
        values = bound.evaluate(batch).dictionary_encode()
        indices = values.indices.cast(type_.index_type)
        return pa.DictionaryArray.from_arrays(indices, values.dictionary)

    return replace(bound, type=type_, run=run)


def constant(value: pa.Scalar) -> Bound:
    """Return the expression that has one value."""
    none = frozenset[str]()
    return Bound(value.type, lambda _: value, none, none, value, nullable=not value.is_valid)


def apply(
    function: Callable[..., Datum],
    *arguments: Bound,
    type_: pa.DataType | None = None,
    nullable: bool | None = None,
) -> Bound:
    """Return a function of arguments; where all are literals it is evaluated at once.

    `type_` is the type of the result, found on no rows when it is not given; unless `nullable` says
    otherwise it can be null where an argument can. Raises QueryRefused.
    """
    columns = frozenset[str]().union(*(one.columns for one in arguments))
    paths = frozenset[str]().union(*(one.paths for one in arguments))

    def run(batch: pa.RecordBatch) -> Datum:
        return function(*(one.run(batch) for one in arguments))

    if type_ is None or all(one.literal is not None for one in arguments):
        none = [
            one.literal if one.literal is not None else pa.array([], one.type) for one in arguments
        ]
        try:
            value = function(*none)
        except (pa.ArrowException, TypeError) as error:
            raise QueryRefused(f"{error}") from error
        if isinstance(value, pa.Scalar) and not columns:
            return constant(value)
        type_ = value.type if type_ is None else type_
    if nullable is None:
        nullable = any(one.nullable for one in arguments)
    return Bound(type_, run, paths, columns, nullable=nullable)


def as_type(bound: Bound, type_: pa.DataType) -> Bound:
    """Return an expression as one of another type. Raises QueryRefused."""
    if bound.type.equals(type_):
        return bound
    if bound.literal is None:
        _check_cast(bound.type, type_)
    return apply(lambda value: cast(value, type_), bound, type_=type_)


def tried(bound: Bound, type_: pa.DataType) -> Bound:
    """Return an expression as one of another type, null where it has none. Raises QueryRefused."""
    _check_cast(bound.type, type_)
    return apply(lambda value: try_cast(value, type_), bound, type_=type_)


def _check_cast(held: pa.DataType, wanted: pa.DataType) -> None:
    try:
        cast(pa.array([], held), wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise QueryRefused(f"Unsupported CAST from {held} to {wanted}") from error


def truth(bound: Bound, text: Callable[[], str]) -> Bound:
    """Return an expression as one of truth values; `text` shows it. Raises QueryRefused."""
    if pa.types.is_null(bound.type):
        return constant(pa.scalar(None, pa.bool_()))
    if not pa.types.is_boolean(bound.type):
        raise QueryRefused(f"{text()} is {bound.type}, not a boolean")
    return bound


def negated(bound: Bound) -> Bound:
    """Return the opposite of truth values."""
    return apply(pc.invert, bound, type_=pa.bool_())
