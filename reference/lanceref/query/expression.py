"""Expressions: the syntax tree of a query, bound to the schema of a table.

Binding finds the columns, gives literals the types of what they meet and refuses what does not fit;
what comes out is evaluated batch by batch with SQL's three-valued logic.

A literal next to a column is strict where the comparison is one of the conditions that the query
joins by AND and OR: it must be a value of the column's type. Everywhere else both become one type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from lanceref.core.errors import QueryRefused
from lanceref.query import comparison
from lanceref.query.arrow_names import arrow_type_named
from lanceref.query.bound import (
    Bound,
    apply,
    as_type,
    constant,
    kept_dictionary,
    negated,
    tried,
    truth,
)
from lanceref.query.budget import charge
from lanceref.query.casts import Datum
from lanceref.query.coercion import common_type
from lanceref.query.date_bins import interval_of
from lanceref.query.functions import FUNCTIONS
from lanceref.query.geometry_functions import NAMES as GEOMETRY_FUNCTIONS
from lanceref.query.geometry_functions import bind_geometry
from lanceref.query.literals import bytes_of_digits, coerce, integer
from lanceref.query.operators import (
    ARITHMETIC,
    COMPARISONS,
    among,
    compared,
    computed,
    element,
    like,
)
from lanceref.query.sqltypes import arrow_type_of
from lanceref.query.trees import conditions, is_literal, is_match, is_plain, is_top

__all__ = ["Binder", "Bound", "constant"]

INSIDE_CALLS = ("ceil", "floor", "substr", "substring", "trim")
"""Functions that have a syntax of their own in SQL: they stand inside of calls only."""

NOT_SUPPORTED = "Expression '{}' is not supported SQL in lance"


class Binder:
    """Binds the expressions of one query. `schema` has the system columns too."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._strict: frozenset[int] = frozenset()

    def bind(self, tree: exp.Expr) -> Bound:
        """Return the bound expression. Raises QueryRefused."""
        self._strict = frozenset(id(one) for one in conditions(tree))
        return self._bind(tree)

    def bind_loosely(self, tree: exp.Expr) -> Bound:
        """Return a part of an expression, bound without strict literals. Raises QueryRefused."""
        strict, self._strict = self._strict, frozenset()
        try:
            return self._bind(tree)
        finally:
            self._strict = strict

    def is_strict(self, tree: exp.Expr) -> bool:
        """Whether literals of a condition of the bound expression are values of its column."""
        return id(tree) in self._strict

    def _bind(self, tree: exp.Expr) -> Bound:
        kind = type(tree)
        if kind in COMPARISONS:
            return compared(COMPARISONS[kind], *self._sides(tree))
        if kind in ARITHMETIC:
            return computed(kind, *self._sides(tree))
        for known, method in _METHODS.items():
            if isinstance(tree, known):
                return method(self, tree)
        return self._function(tree)

    def _paren(self, tree: exp.Paren) -> Bound:
        return self._bind(tree.this)

    def _sides(self, tree: exp.Expr) -> tuple[Bound, Bound]:
        """Bind both sides of an operator, strictly where that holds."""
        left, right = self._bind(tree.this), self._bind(tree.expression)
        if id(tree) not in self._strict:
            return left, right
        if left.is_column and is_literal(tree.expression):
            return left, self._literals(tree.expression, left.type)
        if right.is_column and not left.is_column and is_plain(tree.this):
            return self._literals(tree.this, right.type), right
        return left, right

    def _literals(self, tree: exp.Expr, type_: pa.DataType) -> Bound:
        """Bind literals, or arithmetic of such, as values of a type. Raises QueryRefused."""
        if isinstance(tree, exp.Paren):
            return self._literals(tree.this, type_)
        if type(tree) in ARITHMETIC:
            sides = (self._literals(one, type_) for one in (tree.this, tree.expression))
            return computed(type(tree), *sides)
        bound = self._bind(tree)
        return bound if bound.literal is None else constant(coerce(bound.literal, type_))

    def _column(self, tree: exp.Column) -> Bound:
        parts = tree.parts
        bound = self._top(parts[0].name, quoted=len(parts) == 1 and bool(parts[0].args["quoted"]))
        for part in parts[1:]:
            bound = self._child(bound, part.name)
        return bound

    def _top(self, name: str, *, quoted: bool) -> Bound:
        """Return a column by its name; without quotes the case of letters may differ."""
        alike = [one for one in self._schema.names if one.lower() == name.lower()]
        if name not in self._schema.names and (quoted or not alike):
            valid = ", ".join(self._schema.names)
            raise QueryRefused(f"Schema error: No field named {name}. Valid fields are {valid}.")
        found = name if name in self._schema.names else alike[0]
        field = self._schema.field(found)
        type_ = field.type
        storage = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
        plain = storage.value_type if pa.types.is_dictionary(storage) else storage
        own = frozenset({found})
        return Bound(
            plain,
            lambda batch: _plain(batch.column(found)),
            own,
            own,
            is_column=True,
            nullable=field.nullable,
            dictionary=storage if pa.types.is_dictionary(storage) else None,
        )

    def _child(self, parent: Bound, name: str) -> Bound:
        type_ = parent.type
        if not pa.types.is_struct(type_):
            raise QueryRefused(f"Field {name} not found: {type_} is no struct")
        names = [type_.field(number).name for number in range(type_.num_fields)]
        if name not in names:
            raise QueryRefused(f"Field {name} not found in struct")
        field = type_.field(names.index(name))
        child = apply(  # by its name: what is read may have fewer fields
            lambda value: pc.struct_field(value, [name]),
            parent,
            type_=field.type,
            nullable=parent.nullable or field.nullable,
        )
        paths = child.paths
        if parent.is_column and "." not in name:
            paths = frozenset(f"{path}.{name}" for path in paths)
        return replace(child, paths=paths, is_column=parent.is_column)

    def _dot(self, tree: exp.Dot) -> Bound:
        return self._child(self._bind(tree.this), tree.expression.name)

    def _bracket(self, tree: exp.Bracket) -> Bound:
        parent, (index,) = self._bind(tree.this), tree.expressions
        if isinstance(index, exp.Literal) and index.is_string:
            return self._child(parent, index.this)
        number = self._bind(index)
        if number.literal is not None and pa.types.is_integer(number.type):
            number = constant(pa.scalar(number.literal.as_py() + 1))  # the parser counts from 0
        return element(parent, number)

    def _literal(self, tree: exp.Literal) -> Bound:
        if tree.is_string:
            return constant(pa.scalar(tree.this))
        if not tree.this.isdigit():
            return constant(pa.scalar(float(tree.this)))
        return constant(integer(int(tree.this)))

    def _and(self, tree: exp.And) -> Bound:
        return apply(pc.and_kleene, *self._truths(tree.this, tree.expression), type_=pa.bool_())

    def _or(self, tree: exp.Or) -> Bound:
        return apply(pc.or_kleene, *self._truths(tree.this, tree.expression), type_=pa.bool_())

    def _not(self, tree: exp.Not | exp.BitwiseNot) -> Bound:
        return negated(*self._truths(tree.this))

    def _truths(self, *trees: exp.Expr) -> list[Bound]:
        return [truth(self._match(tree), tree.sql) for tree in trees]

    def _match(self, tree: exp.Expr) -> Bound:
        """Bind an expression; what `regexp_match` found counts as true, null as false."""
        bound = self._bind(tree)
        if not is_match(tree):
            return bound
        return apply(lambda found: pc.fill_null(found, False), bound, type_=pa.bool_())

    def _neg(self, tree: exp.Neg) -> Bound:
        bound = self._bind(tree.this)
        if bound.literal is not None and bound.literal.is_valid:
            value = -bound.literal.as_py()
            if bound.type == pa.uint64():  # one too many for 64 bits with a sign
                return constant(pa.scalar(float(value)))
            return constant(pa.scalar(value, bound.type))
        if pa.types.is_unsigned_integer(bound.type):
            raise QueryRefused(f"Negation only supports signed numbers, got {bound.type}")
        return apply(pc.negate, bound)

    def _between(self, tree: exp.Between) -> Bound:
        if tree.args.get("symmetric"):
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        value, ends = self._bind(tree.this), [tree.args["low"], tree.args["high"]]
        if id(tree) in self._strict and value.is_column:
            low, high = (
                self._literals(one, value.type) if is_literal(one) else self._bind(one)
                for one in ends
            )
        else:
            low, high = map(self._bind, ends)
        above = compared(comparison.greater_equal, value, low)
        below = compared(comparison.less_equal, value, high)
        return apply(pc.and_kleene, above, below, type_=pa.bool_())

    def _in(self, tree: exp.In) -> Bound:
        if tree.args.get("query") is not None or tree.args.get("unnest") is not None:
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        value = self._bind(tree.this)
        if not tree.expressions:
            raise QueryRefused("Expected: an expression, found: )")
        if id(tree) in self._strict and value.is_column and is_top(tree.this):
            others = [
                self._literals(one, value.type) if is_literal(one) else self._bind(one)
                for one in tree.expressions
            ]
        else:
            others = [self._bind(one) for one in tree.expressions]
        return among(value, others)

    def _is(self, tree: exp.Is) -> Bound:
        bound = self._bind(tree.this)
        if isinstance(tree.expression, exp.Null):
            result = apply(pc.is_null, bound, type_=pa.bool_(), nullable=False)
        elif isinstance(tree.expression, exp.Boolean):
            wanted, truths = pa.scalar(tree.expression.this), truth(bound, tree.this.sql)
            result = apply(
                lambda value: pc.fill_null(pc.equal(value, wanted), False),
                truths,
                type_=pa.bool_(),
                nullable=False,
            )
        else:
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        return negated(result) if tree.args.get("negate") else result

    def _like(self, tree: exp.Like | exp.ILike | exp.Escape) -> Bound:
        if isinstance(tree, exp.Escape):
            if tree.expression.name != "\\" or not isinstance(tree.this, exp.Like | exp.ILike):
                raise QueryRefused(
                    "LIKE does not support escape_char other than the backslash (\\)"
                )
            tree = tree.this
        text, pattern = self._bind(tree.this), self._bind(tree.expression)
        negate = bool(tree.args.get("negate"))
        return like(text, pattern, ignore_case=isinstance(tree, exp.ILike), negate=negate)

    def _cast(self, tree: exp.Cast) -> Bound:
        inside = tree.find_ancestor(exp.Anonymous) is not None
        bound, type_ = self._bind(tree.this), arrow_type_of(tree.args["to"], inside=inside)
        found = tried(bound, type_) if isinstance(tree, exp.TryCast) else as_type(bound, type_)
        return (
            found if found.dictionary is None else replace(found, dictionary=None, is_column=False)
        )

    def _interval(self, tree: exp.Interval) -> Bound:
        """Bind a length of time; it stands inside of calls only."""
        if tree.find_ancestor(exp.Anonymous) is None:
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        unit = tree.args.get("unit")
        return constant(interval_of(f"{tree.name} {'' if unit is None else unit.name}".strip()))

    def _array(self, tree: exp.Array) -> Bound:
        values = [self._bind(one) for one in tree.expressions]
        if any(one.literal is None for one in values):
            raise QueryRefused("Expected a literal value in array")
        return apply(FUNCTIONS["make_array"], *values)

    def _concat(self, tree: exp.DPipe) -> Bound:
        parts = [as_type(self._bind(one), pa.utf8()) for one in (tree.this, tree.expression)]
        return apply(_concatenated, *parts)

    def _case(self, tree: exp.Case) -> Bound:
        """Bind a choice; it stands inside of calls only."""
        if tree.find_ancestor(exp.Anonymous) is None:
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        given = None if tree.this is None else self._bind(tree.this)
        conditions, values = [], []
        for one in tree.args["ifs"]:
            asked = self._bind(one.this)
            truths = asked if given is None else compared(comparison.equal, given, asked)
            conditions.append(truth(truths, one.sql))
            values.append(self._bind(one.args["true"]))
        default = tree.args.get("default")
        values.append(constant(pa.scalar(None)) if default is None else self._bind(default))
        type_: pa.DataType | None = pa.null()
        for value in values:
            type_ = None if type_ is None else common_type(type_, value.type)
        if type_ is None:
            raise QueryRefused(f"the values of {tree.sql()} have no common type")
        result = as_type(values[-1], type_)
        for condition, value in reversed(list(zip(conditions, values[:-1], strict=True))):
            arguments = condition, as_type(value, type_), result
            result = apply(
                lambda asked, yes, no: pc.if_else(pc.fill_null(asked, False), yes, no),
                *arguments,
                type_=type_,
            )
        return result

    def _function(self, tree: exp.Expr) -> Bound:
        name = "" if not isinstance(tree, exp.Anonymous) else str(tree.this).lower()
        if isinstance(tree, exp.CurrentDate | exp.CurrentTimestamp):
            name = "current_date" if isinstance(tree, exp.CurrentDate) else "now"
        if name in ("array_element", "list_element", "array_extract"):
            return element(*map(self._bind, tree.expressions))
        if name == "arrow_cast" and len(tree.expressions) == 2:
            value, named = tree.expressions
            return as_type(self._bind(value), arrow_type_named(named.name))
        if name in GEOMETRY_FUNCTIONS:
            return bind_geometry(name, [self._bind(one) for one in tree.expressions], self._schema)
        function = FUNCTIONS.get(name)
        inside = tree.find_ancestor(exp.Anonymous) is not None
        if function is None or (name in INSIDE_CALLS and not inside):
            raise QueryRefused(NOT_SUPPORTED.format(tree.sql()))
        arguments = [self._bind(one) for one in tree.expressions]
        nullable = name not in ("coalesce", "ifnull", "nvl") or all(
            one.nullable for one in arguments
        )
        found = apply(function, *arguments, nullable=nullable)
        return replace(found, dictionary=kept_dictionary(name, arguments))


def _concatenated(*parts: Datum) -> Datum:
    rows = max((len(one) for one in parts if not isinstance(one, pa.Scalar)), default=1)
    for one in parts:
        if isinstance(one, pa.Scalar) and one.is_valid:
            charge(len(one.as_buffer()) * rows)
    return pc.binary_join_element_wise(*parts, "")


def _plain(column: pa.Array) -> pa.Array:
    """Return a column as its storage, without a dictionary."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


_METHODS: dict[type[exp.Expr], Callable[..., Bound]] = {
    exp.Paren: Binder._paren,
    exp.Column: Binder._column,
    exp.Dot: Binder._dot,
    exp.Bracket: Binder._bracket,
    exp.Literal: Binder._literal,
    exp.Boolean: lambda _, tree: constant(pa.scalar(tree.this)),
    exp.Null: lambda _, tree: constant(pa.scalar(None)),
    exp.HexString: lambda _, tree: constant(pa.scalar(bytes_of_digits(tree.this))),
    exp.And: Binder._and,
    exp.Or: Binder._or,
    exp.Not: Binder._not,
    exp.BitwiseNot: Binder._not,
    exp.Neg: Binder._neg,
    exp.Between: Binder._between,
    exp.In: Binder._in,
    exp.Is: Binder._is,
    exp.Like: Binder._like,
    exp.ILike: Binder._like,
    exp.Escape: Binder._like,
    exp.Cast: Binder._cast,
    exp.Array: Binder._array,
    exp.Interval: Binder._interval,
    exp.DPipe: Binder._concat,
    exp.Case: Binder._case,
}
"""How each kind of syntax is bound."""
