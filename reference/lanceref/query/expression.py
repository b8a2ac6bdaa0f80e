"""Expressions: the syntax tree of a query, bound to the schema of a table.

Binding finds the columns, gives literals the types of what they meet and refuses what does not fit;
what comes out is evaluated batch by batch with SQL's three-valued logic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from lanceref.errors import QueryFailed, QueryRefused
from lanceref.query import comparison
from lanceref.query.comparison import Datum
from lanceref.query.functions import FUNCTIONS
from lanceref.query.literals import coerce
from lanceref.query.sqltypes import arrow_type_of

Run = Callable[[pa.RecordBatch], Datum]


@dataclass(frozen=True, slots=True)
class Bound:
    """An expression over the columns of a schema.

    `run` gives an array of a batch's rows or a scalar; `literal` is its value where it has no
    column; `columns` are the names of the columns it reads.
    """

    type: pa.DataType
    run: Run
    columns: frozenset[str]
    literal: pa.Scalar | None = None

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises QueryFailed."""
        try:
            value = self.run(batch)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryFailed(f"Execution error: {error}") from error
        if isinstance(value, pa.Scalar):
            return pa.repeat(value, batch.num_rows)
        return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value


def constant(value: pa.Scalar) -> Bound:
    """Return the expression that has one value."""
    return Bound(value.type, lambda _: value, frozenset(), value)


COMPARISONS: dict[type[exp.Expr], comparison.Compare] = {
    exp.EQ: comparison.equal,
    exp.NEQ: comparison.not_equal,
    exp.GT: comparison.greater,
    exp.GTE: comparison.greater_equal,
    exp.LT: comparison.less,
    exp.LTE: comparison.less_equal,
    exp.NullSafeNEQ: comparison.distinct,
    exp.NullSafeEQ: lambda left, right: pc.invert(comparison.distinct(left, right)),
}

ARITHMETIC: dict[type[exp.Expr], Callable[[Datum, Datum], Datum]] = {
    exp.Add: pc.add_checked,
    exp.Sub: pc.subtract_checked,
    exp.Mul: pc.multiply_checked,
}


class Binder:
    """Binds the expressions of one query. `schema` has the system columns too."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def bind(self, tree: exp.Expr) -> Bound:
        """Return the bound expression. Raises QueryRefused."""
        for kind, method in _METHODS.items():
            if isinstance(tree, kind):
                return method(self, tree)
        if type(tree) in COMPARISONS:
            return self._compare(tree, COMPARISONS[type(tree)])
        if type(tree) in ARITHMETIC:
            return self._apply(ARITHMETIC[type(tree)], *self._alike(tree.this, tree.expression))
        return self._function(tree)

    def _paren(self, tree: exp.Expr) -> Bound:
        return self.bind(tree.this)

    def _column(self, tree: exp.Column) -> Bound:
        names = [part.name for part in tree.parts]
        bound = self._top(names[0])
        for name in names[1:]:
            bound = self._child(bound, name)
        return bound

    def _top(self, name: str) -> Bound:
        """Return a column by its name; letters may differ in case where only one then fits."""
        found = name if name in self._schema.names else ""
        alike = [one for one in self._schema.names if one.lower() == name.lower()]
        if not found and len(alike) == 1:
            found = alike[0]
        if not found:
            raise QueryRefused(
                f"No field named {name}. Valid fields are {', '.join(self._schema.names)}."
            )
        type_ = self._schema.field(found).type
        storage = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
        plain = storage.value_type if pa.types.is_dictionary(storage) else storage
        return Bound(plain, lambda batch: _plain(batch.column(found)), frozenset({found}))

    def _child(self, parent: Bound, name: str) -> Bound:
        type_ = parent.type
        if not pa.types.is_struct(type_):
            raise QueryRefused(f"Field {name} not found: {type_} is no struct")
        names = [type_.field(number).name for number in range(type_.num_fields)]
        if name not in names:
            raise QueryRefused(f"Field {name} not found in struct")
        number = names.index(name)
        return Bound(
            type_.field(number).type,
            lambda batch: pc.struct_field(parent.run(batch), number),
            parent.columns,
        )

    def _dot(self, tree: exp.Dot) -> Bound:
        return self._child(self.bind(tree.this), tree.expression.name)

    def _bracket(self, tree: exp.Bracket) -> Bound:
        parent, (index,) = self.bind(tree.this), tree.expressions
        if isinstance(index, exp.Literal) and index.is_string:
            return self._child(parent, index.this)
        number = self.bind(index)
        if number.literal is None or not pa.types.is_list(parent.type):
            raise QueryRefused(f"{tree.sql()} is not supported")
        at = number.literal.as_py()  # the parser counts from 0
        if at < 0:
            raise QueryRefused(f"{tree.sql()} is not supported")
        return Bound(
            parent.type.value_type,
            lambda batch: _element(parent.run(batch), at),
            parent.columns,
        )

    def _literal(self, tree: exp.Literal) -> Bound:
        if tree.is_string:
            return constant(pa.scalar(tree.this))
        try:
            return constant(pa.scalar(int(tree.this)))
        except ValueError:
            return constant(pa.scalar(float(tree.this)))
        except OverflowError:
            return constant(pa.scalar(float(tree.this)))

    def _and(self, tree: exp.And) -> Bound:
        return self._apply(pc.and_kleene, *self._truths(tree.this, tree.expression))

    def _or(self, tree: exp.Or) -> Bound:
        return self._apply(pc.or_kleene, *self._truths(tree.this, tree.expression))

    def _not(self, tree: exp.Not) -> Bound:
        return self._apply(pc.invert, *self._truths(tree.this))

    def _truths(self, *trees: exp.Expr) -> list[Bound]:
        bound = [self.bind(tree) for tree in trees]
        for one, tree in zip(bound, trees, strict=True):
            if not (pa.types.is_boolean(one.type) or pa.types.is_null(one.type)):
                raise QueryRefused(f"{tree.sql()} is {one.type}, not a boolean")
        return [
            constant(pa.scalar(None, pa.bool_())) if pa.types.is_null(one.type) else one
            for one in bound
        ]

    def _neg(self, tree: exp.Neg) -> Bound:
        bound = self.bind(tree.this)
        if bound.literal is not None:
            return constant(pa.scalar(-bound.literal.as_py(), bound.type))
        return self._apply(pc.negate_checked, bound)

    def _divide(self, tree: exp.Div) -> Bound:
        return self._apply(_divided, *self._alike(tree.this, tree.expression))

    def _modulo(self, tree: exp.Mod) -> Bound:
        return self._apply(_remainder, *self._alike(tree.this, tree.expression))

    def _compare(self, tree: exp.Expr, compare: comparison.Compare) -> Bound:
        return self._apply(compare, *self._alike(tree.this, tree.expression), type_=pa.bool_())

    def _alike(self, *trees: exp.Expr) -> list[Bound]:
        """Bind expressions that meet: literals take the type of the first column among them."""
        bound = [self.bind(tree) for tree in trees]
        columns = [one.type for one in bound if one.literal is None]
        if not columns:
            return bound
        return [
            one if one.literal is None else constant(coerce(one.literal, columns[0]))
            for one in bound
        ]

    def _between(self, tree: exp.Between) -> Bound:
        if tree.args.get("symmetric"):
            raise QueryRefused(f"{tree.sql()} is not supported")
        value, low, high = self._alike(tree.this, tree.args["low"], tree.args["high"])
        above = self._apply(comparison.greater_equal, value, low)
        return self._apply(pc.and_kleene, above, self._apply(comparison.less_equal, value, high))

    def _in(self, tree: exp.In) -> Bound:
        if tree.args.get("query") is not None or not tree.expressions:
            raise QueryRefused(f"Expression '{tree.sql()}' is not supported SQL in lance")
        value, *others = self._alike(tree.this, *tree.expressions)
        result = self._apply(comparison.equal, value, others[0])
        for other in others[1:]:
            result = self._apply(pc.or_kleene, result, self._apply(comparison.equal, value, other))
        return result

    def _is(self, tree: exp.Is) -> Bound:
        bound = self.bind(tree.this)
        if isinstance(tree.expression, exp.Null) and _is_match(tree.this):
            result = self._apply(lambda found: pc.invert(pc.fill_null(found, False)), bound)
        elif isinstance(tree.expression, exp.Null):
            result = self._apply(pc.is_null, bound, type_=pa.bool_())
        elif isinstance(tree.expression, exp.Boolean):
            wanted = pa.scalar(tree.expression.this)
            result = self._apply(
                lambda value: pc.fill_null(pc.equal(value, wanted), False), bound, type_=pa.bool_()
            )
        else:
            raise QueryRefused(f"Expression '{tree.sql()}' is not supported SQL in lance")
        return self._apply(pc.invert, result) if tree.args.get("negate") else result

    def _like(self, tree: exp.Like | exp.ILike) -> Bound:
        text, pattern = self.bind(tree.this), self.bind(tree.expression)
        if pattern.literal is None or not pa.types.is_string(pattern.type):
            raise QueryRefused(f"the pattern of {tree.sql()} is no text")
        ignore, wanted = isinstance(tree, exp.ILike), pattern.literal.as_py()
        result = self._apply(
            lambda value: pc.match_like(value, wanted, ignore_case=ignore), text, type_=pa.bool_()
        )
        return self._apply(pc.invert, result) if tree.args.get("negate") else result

    def _cast(self, tree: exp.Cast) -> Bound:
        bound, type_ = self.bind(tree.this), arrow_type_of(tree.args["to"])
        if isinstance(tree, exp.TryCast):
            return Bound(type_, lambda batch: _try_cast(bound.run(batch), type_), bound.columns)
        return self._apply(lambda value: _cast(value, type_), bound, type_=type_)

    def _array(self, tree: exp.Array) -> Bound:
        return self._apply(FUNCTIONS["make_array"], *map(self.bind, tree.expressions))

    def _concat(self, tree: exp.DPipe) -> Bound:
        parts = [self.bind(tree.this), self.bind(tree.expression)]
        return self._apply(
            lambda *texts: pc.binary_join_element_wise(
                *(text.cast(pa.utf8()) for text in texts), ""
            ),
            *parts,
        )

    def _function(self, tree: exp.Expr) -> Bound:
        name = "" if not isinstance(tree, exp.Anonymous) else str(tree.this).lower()
        if isinstance(tree, exp.CurrentDate | exp.CurrentTimestamp):
            name = "current_date" if isinstance(tree, exp.CurrentDate) else "now"
        function = FUNCTIONS.get(name)
        if function is None:
            raise QueryRefused(f"Expression '{tree.sql()}' is not supported SQL in lance")
        return self._apply(function, *map(self.bind, tree.expressions))

    def _apply(
        self, function: Callable[..., Datum], *arguments: Bound, type_: pa.DataType | None = None
    ) -> Bound:
        """Return the function of arguments; it is evaluated at once where they are literals."""
        columns = frozenset().union(*(one.columns for one in arguments))

        def run(batch: pa.RecordBatch) -> Datum:
            return function(*(one.run(batch) for one in arguments))

        if type_ is None or all(one.literal is not None for one in arguments):
            empty = self._schema.empty_table().to_batches(max_chunksize=1)
            sample = empty[0] if empty else _no_rows(self._schema)
            try:
                value = run(sample)
            except (pa.ArrowException, TypeError) as error:
                raise QueryRefused(f"{error}") from error
            if isinstance(value, pa.Scalar) and not columns:
                return constant(value)
            type_ = value.type if type_ is None else type_
        return Bound(type_, run, columns)


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    arrays = [pa.array([], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(column: pa.Array) -> pa.Array:
    """Return a column as its storage, without a dictionary."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _is_match(tree: exp.Expr) -> bool:
    """Whether it is a call of `regexp_match`, which is null where nothing matches."""
    return isinstance(tree, exp.Anonymous) and str(tree.this).lower() == "regexp_match"


def _element(lists: pa.ListArray, at: int) -> pa.Array:
    """Return the element at a position of each list, null where it is shorter."""
    there = pc.greater(pc.list_value_length(lists), at)
    chosen = pc.if_else(there, pc.add(lists.offsets[:-1], at), pa.scalar(None, lists.offsets.type))
    return lists.values.take(chosen)


def _cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type; text of a moment may name its zone."""
    if isinstance(value, pa.StringScalar) and pa.types.is_timestamp(type_) and type_.tz is None:
        try:
            return value.cast(type_)
        except pa.ArrowInvalid:
            return value.cast(pa.timestamp(type_.unit, "UTC"))
    return value.cast(type_)


def _divided(left: Datum, right: Datum) -> Datum:
    if pa.types.is_floating(left.type) or pa.types.is_floating(right.type):
        return pc.divide(left, right)
    return pc.divide_checked(left, right)


def _remainder(left: Datum, right: Datum) -> Datum:
    """Return the remainder, with the sign of the first value."""
    if pa.types.is_floating(left.type):
        return pc.subtract(left, pc.multiply(pc.trunc(pc.divide(left, right)), right))
    return pc.subtract(left, pc.multiply(pc.divide_checked(left, right), right))


def _try_cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type, null where one has none."""
    held = [value] if isinstance(value, pa.Scalar) else value
    cast = []
    for one in held:
        try:
            cast.append(one.cast(type_))
        except pa.ArrowInvalid:
            cast.append(pa.scalar(None, type_))
    return cast[0] if isinstance(value, pa.Scalar) else pa.array(cast, type_)


_METHODS: dict[type[exp.Expr], Callable[..., Bound]] = {
    exp.Paren: Binder._paren,
    exp.Column: Binder._column,
    exp.Dot: Binder._dot,
    exp.Bracket: Binder._bracket,
    exp.Literal: Binder._literal,
    exp.Boolean: lambda _, tree: constant(pa.scalar(tree.this)),
    exp.Null: lambda _, tree: constant(pa.scalar(None)),
    exp.HexString: lambda _, tree: constant(pa.scalar(bytes.fromhex(tree.this))),
    exp.And: Binder._and,
    exp.Or: Binder._or,
    exp.Not: Binder._not,
    exp.Neg: Binder._neg,
    exp.Div: Binder._divide,
    exp.Mod: Binder._modulo,
    exp.Between: Binder._between,
    exp.In: Binder._in,
    exp.Is: Binder._is,
    exp.Like: Binder._like,
    exp.ILike: Binder._like,
    exp.Cast: Binder._cast,
    exp.Array: Binder._array,
    exp.DPipe: Binder._concat,
}
"""How each kind of syntax is bound."""
