"""The engine: DataFusion, which parses and evaluates the expressions of filters and projections.

Each thread has one session, with the functions that Lance adds; the table of its expressions is
replaced before each evaluation. One target partition keeps rows in their order. DataFusion sees
columns without metadata and extension types as their storage; a column of geometries has a second
one beside it, the same values as well-known binary, which functions over geometries read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import LanceError, QueryFailed, QueryRefused
from lanceref.core.query_limits import charge
from lanceref.file.schema_view import type_over

from pylanceref.sql.functions import BINARY_OF, binary_of_column, register
from pylanceref.sql.rewriting import extension_of

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


class ExactSchema:
    """A schema as the key of a cache: equal, unlike a `pa.Schema`, only with the same metadata."""

    __slots__ = ("_hash", "schema")

    def __init__(self, schema: pa.Schema) -> None:
        self.schema, self._hash = schema, hash(schema)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactSchema) and self.schema.equals(
            other.schema, check_metadata=True
        )


class Engine:
    """A DataFusion session, which belongs to one thread."""

    def __init__(self) -> None:
        try:
            from datafusion import SessionConfig, SessionContext
        except ImportError as error:
            raise QueryRefused(MISSING) from error

        config = SessionConfig().with_target_partitions(1)
        for name, value in SETTINGS.items():
            config = config.set(name, value)
        self._session = SessionContext(config)
        self.raised: LanceError | None = None
        register(self._session, partial(setattr, self, "raised"))  # DataFusion keeps the text only
        self._frame_of = lru_cache(64)(self._empty_frame)

    def _empty_frame(self, exact: ExactSchema) -> DataFrame:
        columns = [pa.nulls(0, one.type) for one in exact.schema]
        return self.frame(pa.RecordBatch.from_arrays(columns, schema=exact.schema))

    def frame(self, batch: pa.RecordBatch) -> DataFrame:
        """Return the rows of a batch as the table."""
        self._session.deregister_table(TABLE)
        return self._session.from_arrow(batch, name=TABLE)

    def parse(self, text: str, schema: pa.Schema) -> Expr:
        """Return the tree of an expression over columns. Raises QueryRefused."""
        with self.errors(QueryRefused):
            return self._frame_of(ExactSchema(schema)).parse_sql_expr(text)

    def result(self, expr: Expr, schema: pa.Schema) -> pa.Field:
        """Return type and nullability of an expression's values. Raises QueryRefused."""
        with self.errors(QueryRefused):
            frame = self._frame_of(ExactSchema(schema)).select(expr.alias("x"))
            frame.optimized_logical_plan()
            held = plain_view(frame.schema().field(0))
        if not pa.types.is_decimal(held.type) or not schema.names:
            return held
        row = pa.record_batch([pa.nulls(1, one.type) for one in schema], names=schema.names)
        (values,) = self.evaluate([expr], row, QueryRefused)  # unplanned, it is that of one operand
        return held.with_type(values.type)

    def evaluate(
        self, exprs: Sequence[Expr], batch: pa.RecordBatch, refusal: type[LanceError] = QueryFailed
    ) -> list[pa.Array]:
        """Return the values of expressions for each row of a batch. Raises the refusal."""
        with self.errors(refusal):
            named = [expr.alias(f"c{number}") for number, expr in enumerate(exprs)]
            parts = self.frame(batch).select(*named).collect()
        if not parts:
            empty = self.frame(batch).select(*named).schema()
            return [pa.nulls(0, field.type) for field in empty]
        arrays = []
        for column in pa.Table.from_batches(parts).combine_chunks().columns:
            array = column.combine_chunks()
            if isinstance(array, pa.ChunkedArray):
                array = pa.concat_arrays(array.chunks) if array.chunks else pa.nulls(0, array.type)
            type_ = plain_view(pa.field("", array.type)).type
            arrays.append(array if type_ == array.type else array.cast(type_))
        return arrays

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

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        noted, self._engine.raised = self._engine.raised, None
        if type(error) is Exception or type(error).__name__ == "PanicException":
            told = str(error).replace(f'"{TABLE}".', "")[:1000]
            raise (noted or self._refusal(f"Execution error: {told}")) from error
        if isinstance(error, (pa.ArrowException, TypeError, OverflowError)):
            raise self._refusal(f"Execution error: {str(error)[:1000]}") from error


def plain_view(field: pa.Field) -> pa.Field:
    """Return a field of text or bytes for one of views."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.utf8())
    return field.with_type(pa.binary()) if pa.types.is_binary_view(field.type) else field


def repeated(value: pa.Scalar, rows: int) -> pa.Array:
    """Return a value for each of some rows. Raises QueryTooLarge."""
    charge(pa.repeat(value, 1).get_total_buffer_size() * (rows - 1))
    return pa.repeat(value, rows)


_own = threading.local()


def engine() -> Engine:
    """Return the engine of this thread. Raises QueryRefused without DataFusion."""
    found: Engine | None = getattr(_own, "engine", None)
    if found is None:
        found = _own.engine = Engine()
    return found


GEOMETRY = "geoarrow."
"""Begins the extension names of geometries."""

ALIGNMENT = 16
"""Bytes of the widest values that DataFusion reads at once: decimals."""


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a schema without extension types and metadata."""
    return _plain_schema(ExactSchema(schema))


@lru_cache(64)
def _plain_schema(exact: ExactSchema) -> pa.Schema:
    schema = exact.schema
    fields = [pa.field(one.name, plain_type(one.type), one.nullable) for one in schema]
    fields += [
        pa.field(BINARY_OF + one.name, pa.binary())
        for one in schema
        if extension_of(one).startswith(GEOMETRY)
    ]
    return pa.schema(fields)


def named_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the second columns of geometries, and with its metadata."""
    names = [name for name in plain_schema(schema).names if name not in schema.names]
    return pa.schema([*schema, *(pa.field(name, pa.binary()) for name in names)], schema.metadata)


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return a type without extension types, at any depth but in maps."""
    if isinstance(type_, pa.BaseExtensionType):
        return plain_type(type_.storage_type)
    if pa.types.is_map(type_) or not pa.types.is_nested(type_):
        return type_
    below = [type_.field(number) for number in range(type_.num_fields)]
    return type_over(type_, [pa.field(f.name, plain_type(f.type), f.nullable) for f in below])


def _nulls_below(array: pa.Array) -> pa.Array:
    """Return structs whose fields are null where they are: DataFusion reads a field as stored."""
    if not pa.types.is_struct(array.type) or not array.null_count:
        return array
    fields = [array.type.field(number) for number in range(array.type.num_fields)]
    parts = [_nulls_below(pc.struct_field(array, [at])) for at in range(len(fields))]
    free = [field.with_nullable(True) for field in fields]
    return pa.StructArray.from_arrays(parts, fields=free, mask=array.is_null())


def plain_batch(batch: pa.RecordBatch, names: Iterable[str]) -> pa.RecordBatch:
    """Return columns of a batch without extension types. Raises QueryFailed for no geometry."""
    arrays, fields = [], []
    for name in names:
        source = name.removeprefix(BINARY_OF)
        field, array = batch.schema.field(source), batch.column(source)
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if name != source:
            arrays.append(binary_of_column(array, extension_of(field)))
            fields.append(pa.field(name, pa.binary()))
            continue
        type_ = plain_type(array.type)
        plain = array if array.type == type_ else array.cast(type_)
        array = _nulls_below(plain)
        if any(one is not None and one.address % ALIGNMENT for one in array.buffers()):
            array = array.take(pa.array(np.arange(len(array))))  # pages begin anywhere
        arrays.append(array)
        fields.append(pa.field(name, arrays[-1].type, field.nullable))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
