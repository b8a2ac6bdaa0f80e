"""The engine: DataFusion, which parses and evaluates the expressions of filters and projections.

Each thread has one session, with the functions that Lance adds; the table of its expressions is
replaced before each evaluation. One target partition keeps rows in their order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.errors import LanceError, QueryFailed, QueryRefused
from lanceref.core.query_limits import charge

if TYPE_CHECKING:
    from datafusion import DataFrame, Expr

TABLE = "#rows"
"""Name of the table, like no column."""

MISSING = "SQL needs DataFusion: pip install 'lance-conformance[sql]'"
"""Message without the library."""

SETTINGS = {
    "datafusion.execution.batch_size": "65536",
    "datafusion.sql_parser.map_string_types_to_utf8view": "false",
}
"""Settings of a session: types of SQL are those that Lance makes of them."""


class Engine:
    """A session of one thread."""

    def __init__(self) -> None:
        try:
            from datafusion import SessionConfig, SessionContext
        except ImportError as error:
            raise QueryRefused(MISSING) from error
        from pylanceref.sql.user_functions import register

        config = SessionConfig().with_target_partitions(1)
        for name, value in SETTINGS.items():
            config = config.set(name, value)
        self._session = SessionContext(config)
        self.raised: LanceError | None = None
        self.functions = register(self._session, self._note)
        self._frame_of = lru_cache(64)(self._empty_frame)
        self._parsed = lru_cache(256)(self._parse)

    def _note(self, error: LanceError) -> None:
        """Keep the error of a function, of which DataFusion passes on only the text."""
        self.raised = error

    def _empty_frame(self, schema: pa.Schema) -> DataFrame:
        return self.frame(pa.RecordBatch.from_pylist([], schema=schema))

    def frame(self, batch: pa.RecordBatch) -> DataFrame:
        """Return the rows of a batch as the table."""
        self._session.deregister_table(TABLE)
        return self._session.from_arrow(batch, name=TABLE)

    def parse(self, text: str, schema: pa.Schema) -> Expr:
        """Return the tree of an expression over columns. Raises QueryRefused."""
        return self._parsed(text, schema)

    def _parse(self, text: str, schema: pa.Schema) -> Expr:
        with self.errors(QueryRefused):
            return self._frame_of(schema).parse_sql_expr(text)

    def result(self, expr: Expr, schema: pa.Schema) -> pa.Field:
        """Return type and nullability of an expression's values. Raises QueryRefused."""
        with self.errors(QueryRefused):
            frame = self._frame_of(schema).select(expr.alias("x"))
            frame.optimized_logical_plan()
            return plain_view(frame.schema().field(0))

    def evaluate(
        self, exprs: Sequence[Expr], batch: pa.RecordBatch, refusal: type[LanceError] = QueryFailed
    ) -> list[pa.Array]:
        """Return the values of expressions for each row of a batch. Raises the refusal."""
        with self.errors(refusal):
            named = [expr.alias(f"c{number}") for number, expr in enumerate(exprs)]
            parts = self.frame(batch).select(*named).collect()
        if not parts:
            empty = self.frame(batch).select(*named).schema()
            return [pa.array([], field.type) for field in empty]
        columns = pa.Table.from_batches(parts).combine_chunks().columns
        return [_plain(column) for column in columns]

    def errors(self, refusal: type[LanceError]) -> _Errors:
        """Make errors of DataFusion in a `with` block a refusal; those of our functions stay."""
        return _Errors(self, refusal)


class _Errors:
    """What DataFusion raises, as an error of Lance.

    DataFusion has no error class of its own: its errors are plain `Exception`s, and its panics are
    of a class that cannot be imported. Errors of any other class pass.
    """

    def __init__(self, engine: Engine, refusal: type[LanceError]) -> None:
        self._engine, self._refusal = engine, refusal

    def __enter__(self) -> None:
        self._engine.raised = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        noted, self._engine.raised = self._engine.raised, None
        if kind is Exception or (kind is not None and kind.__name__ == "PanicException"):
            raise (noted or self._refusal(f"Execution error: {str(error)[:1000]}")) from error
        if isinstance(error, (pa.ArrowException, TypeError, OverflowError)):
            raise self._refusal(f"Execution error: {str(error)[:1000]}") from error


def plain_view(field: pa.Field) -> pa.Field:
    """Return a field of text or bytes for one of views."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.utf8())
    return field.with_type(pa.binary()) if pa.types.is_binary_view(field.type) else field


def _plain(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    type_ = plain_view(pa.field("", array.type)).type
    return array if type_ == array.type else array.cast(type_)


def repeated(value: pa.Scalar, rows: int) -> pa.Array:
    """Return a value for each of some rows. Raises QueryTooLarge."""
    one = pa.repeat(value, 1)
    charge(one.get_total_buffer_size() * (rows - 1))
    return pa.repeat(value, rows)


_own = threading.local()


def engine() -> Engine:
    """Return the engine of this thread. Raises QueryRefused without DataFusion."""
    found: Engine | None = getattr(_own, "engine", None)
    if found is None:
        found = _own.engine = Engine()
    return found
