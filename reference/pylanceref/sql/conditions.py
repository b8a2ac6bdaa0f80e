"""Conditions: the predicate over columns that an expression is, as indices are asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import calling
from lanceref.file.schema_view import joined_path
from lanceref.index import predicate as questions
from lanceref.index.full_text.tokenizers import simple
from lanceref.index.geometry import binary_of
from lanceref.index.predicate import Predicate as Question
from lanceref.json.json_path import member_path
from lanceref.search.index_plan import And, Not, On, Or, Predicate, Unknown

from pylanceref.sql.engine import engine, plain_schema
from pylanceref.sql.functions import BINARY_OF, JSON_FUNCTIONS, RELATIONS
from pylanceref.sql.rewriting import words
from pylanceref.sql.strict import COMPARISONS, as_value, is_text, scalar_of, type_at
from pylanceref.sql.trees import Node

RETURNED = {
    name: JSON_FUNCTIONS[name][2]
    for name in words("json_get_bool json_get_float json_get_int json_get_string")
}
"""Functions that return a member of a document, and the types of these."""

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparison that is true with its sides exchanged."""

MEETING = RELATIONS.keys() - words("st_disjoint st_distance st_equals")
"""Functions of geometries that are true only of such as meet."""


def predicate_of(node: Node, schema: pa.Schema) -> Predicate:
    """Return what an expression says of single columns."""
    with calling(QueryRefused):
        return _Reader(plain_schema(schema)).read(node, strict=True)


class _NotIndexable(Exception):
    """Raised for a part of an expression that no index can answer."""


class _Reader:
    """Reads the predicate of one expression."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def read(self, node: Node, *, strict: bool) -> Predicate:
        """Return the predicate of a part; literals are strict as far as AND and OR go."""
        if node.op in ("AND", "OR"):
            parts = tuple(self.read(part, strict=strict) for part in node.parts)
            return And(parts) if node.op == "AND" else Or(parts)
        if node.op == "Not":
            return _denied(self.read(node.parts[0], strict=False))
        try:
            found = self._comparison(node, strict)
        except _NotIndexable:
            return Unknown()
        if node.op in ("IsTrue", "IsFalse") and not strict:  # what denies them is true of null
            return And((found, Not(On(found.path, questions.IsNull()))))
        is_denied = node.negated or node.op in ("not like", "IsNotNull", "!=")
        return _denied(found) if is_denied else found

    def _comparison(self, node: Node, strict: bool) -> On:
        """Return a question that an index may answer. Raises _NotIndexable for other nodes."""
        if node.names or node.op in ("IsTrue", "IsFalse"):
            path, type_ = self._column(node if node.names else node.parts[0])
            if not pa.types.is_boolean(type_):
                raise _NotIndexable
            return On(path, questions.Among((pa.scalar(node.op != "IsFalse"),)))
        if node.op in COMPARISONS:
            return self._compared(node, strict)
        if node.op in _CALLS:
            return self._call(node)
        if node.op not in ("IsNull", "IsNotNull", "between", "in list", "like", "not like"):
            raise _NotIndexable
        path, type_ = self._column(node.parts[0])
        if node.op in ("IsNull", "IsNotNull"):
            return On(path, questions.IsNull())
        if node.op in ("like", "not like"):
            return _like(path, type_, node.parts[1].text)
        strict &= node.op == "between" or "." not in path
        values = tuple(self._value(one, type_, strict) for one in node.parts[1:])
        is_range = node.op == "between"
        return On(path, questions.Within(*values) if is_range else questions.Among(values))

    def _column(self, node: Node) -> tuple[str, pa.DataType]:
        """Return path and type of a column, or of a member of its documents."""
        if node.op in RETURNED:
            return self._member(node)
        type_ = type_at(self._schema, node.names)
        if type_ is not None and pa.types.is_dictionary(type_):  # its zeros are two in a scan
            type_ = None if pa.types.is_floating(type_.value_type) else type_.value_type
        if not node.names or type_ is None:
            raise _NotIndexable
        return joined_path(node.names).removeprefix(BINARY_OF), type_

    def _member(self, node: Node) -> tuple[str, pa.DataType]:
        """Return path and type of the member of documents that a call stands for.

        `json_get_int(json_get(column, 'a'), 'b')` is the member `b` of the member `a`.
        """
        names, held = list[str](), node
        while held.op == "json_get" or held is node:
            inside, name = held.parts
            names.insert(0, _known(name.text))
            held = inside.parts[0] if inside.op == "arrow_cast" else inside
        if not held.names:
            raise _NotIndexable
        return member_path(joined_path(held.names), tuple(names)), RETURNED[node.op]

    def _value(self, node: Node, type_: pa.DataType, strict: bool) -> pa.Scalar:
        return _known(as_value(_known(scalar_of(node, engine())), type_, strict))

    def _compared(self, node: Node, strict: bool) -> On:
        (left, right), op = node.parts, node.op
        try:
            path, type_ = self._column(left)
        except _NotIndexable:
            (path, type_), right, op = self._column(right), left, FLIPPED[op]
        value = self._value(right, type_, strict)
        if op in ("=", "!="):
            return On(path, questions.Among((value,)))
        low, high = (value, None) if op in (">", ">=") else (None, value)
        closed = op in (">=", "<=")
        return On(path, questions.Within(low, high, closed, closed))

    def _call(self, node: Node) -> On:
        """Return the question of a call of a function over a column and a literal."""
        if len(node.parts) != 2:
            raise _NotIndexable
        held, given = node.parts
        if node.op in MEETING and held.op == "arrow_cast":  # well-known binary without a name
            held = held.parts[0]
        path, type_ = self._column(held)
        literal = scalar_of(given, engine())
        if literal is None or not literal.is_valid:
            raise _NotIndexable
        return On(path, _CALLS[node.op](literal, type_))


def _denied(found: Predicate) -> Predicate:
    """Return what is true where a predicate is false: of a boolean, that it has the other value."""
    if not (isinstance(found, On) and isinstance(found.question, questions.Among)):
        return Not(found)
    values = found.question.values
    if not all(pa.types.is_boolean(one.type) for one in values):
        return Not(found)
    others = {True, False}.difference(one.as_py() for one in values)
    return On(found.path, questions.Among(tuple(pa.scalar(one) for one in sorted(others))))


T = TypeVar("T")


def _known(value: T | None) -> T:
    """Return a value. Raises _NotIndexable for None."""
    if value is None:
        raise _NotIndexable
    return value


def _like(path: str, type_: pa.DataType, form: str | None) -> On:
    """Return the question for text of a form, which its beginning answers as far as it goes."""
    if form is None or not is_text(type_) or "\\" in form:
        raise _NotIndexable
    prefix = form.split("%")[0].split("_")[0]
    if prefix == form:
        return On(path, questions.Among((pa.scalar(prefix, type_),)))
    if not prefix:
        raise _NotIndexable
    return On(path, questions.StartsWith(pa.scalar(prefix, type_)), exact=form == f"{prefix}%")


Ask = Callable[[pa.Scalar, pa.DataType], Question]
"""Returns what a call asks, by the literal and the type of the column. Raises _NotIndexable."""


def _of_text(ask: Callable[[str, pa.DataType], Question]) -> Ask:
    """Return what a call with a text asks of a column of text."""

    def question(literal: pa.Scalar, type_: pa.DataType) -> Question:
        if not (is_text(literal.type) and is_text(type_)):
            raise _NotIndexable
        return ask(literal.as_py(), type_)

    return question


def _has_words(text: str, _: pa.DataType) -> Question:
    """Return a question for words; none at all are no question."""
    return questions.HasWords(tuple(dict.fromkeys(_known(simple(text)[0] or None))))


def _intersects(literal: pa.Scalar, type_: pa.DataType) -> Question:
    """Return a question for geometries that meet one: all of which more is said do."""
    held = literal.as_py()
    if isinstance(held, bytes) and held[:1] not in (b"\0", b"\1", b"0"):
        held = held.decode()
    return questions.Intersects(held if isinstance(held, bytes) else binary_of(held))


def _labels(every: bool) -> Ask:
    """Return what a call asks of labels of a list; null and none at all are no question."""

    def question(literal: pa.Scalar, type_: pa.DataType) -> Question:
        if not (pa.types.is_list(type_) or pa.types.is_large_list(type_)):
            raise _NotIndexable
        given = literal.values if pa.types.is_nested(literal.type) else [literal]
        labels = [_known(as_value(one, type_.value_type, strict=False)) for one in given]
        return questions.HasLabels(_known(tuple(labels) or None), every)

    return question


_CALLS: dict[str, Ask] = {
    **dict.fromkeys(MEETING, _intersects),
    "starts_with": _of_text(
        lambda text, type_: questions.StartsWith(pa.scalar(_known(text or None), type_))
    ),
    "contains": _of_text(lambda text, _: questions.Contains(text)),
    "contains_tokens": _of_text(_has_words),
    **dict.fromkeys(
        ("regexp_match", "regexp_like"), _of_text(lambda text, _: questions.Matches(text))
    ),
    **dict.fromkeys(("array_has", "array_has_any"), _labels(every=False)),
    "array_has_all": _labels(every=True),
}
"""What a call of a function over a column asks, by the name that DataFusion gives the function."""
