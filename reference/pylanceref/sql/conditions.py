"""Conditions: the predicate over columns that an expression is, as indices are asked for it."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import calling
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


def predicate_of(node: Node, schema: pa.Schema) -> Predicate | None:
    """Return what an expression says of single columns, None when it says nothing."""
    with calling(QueryRefused):
        return _structured(_Reader(plain_schema(schema)).read(node, strict=True))


def _structured(predicate: Predicate) -> Predicate | None:
    """Return a predicate, None when no question about a column is in it."""
    waiting = [predicate]
    while waiting:
        match waiting.pop():
            case On():
                return predicate
            case And(parts) | Or(parts):
                waiting += parts
            case Not(part):
                waiting.append(part)
    return None


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
            return Not(self.read(node.parts[0], strict=False))
        if node.op in COMPARISONS:
            found = self._compared(node, strict)
        elif node.op == "between":
            found = self._between(node, strict)
        elif node.op == "in list":
            found = self._in(node, strict)
        elif node.op in ("like", "not like"):
            found = self._like(node)
        elif node.names:
            found = self._is_true(node, True)
        elif node.op in ("IsNull", "IsNotNull"):
            column = self._column(node.parts[0])
            found = None if column is None else On(column[0], questions.IsNull())
        elif node.op in ("IsTrue", "IsFalse"):
            found = self._is_true(node.parts[0], node.op == "IsTrue")
        else:
            found = self._call(node)
        if found is None:
            return Unknown()
        is_denied = node.negated or node.op in ("not like", "IsNotNull", "!=")
        return Not(found) if is_denied else found

    def _column(self, node: Node) -> tuple[str, pa.DataType] | None:
        """Return path and type of a column, or of a member of its documents."""
        if node.op in RETURNED:
            return self._member(node)
        if not node.names or any("." in name for name in node.names[1:]):
            return None
        type_ = type_at(self._schema, node.names)
        if type_ is None:
            return None
        if pa.types.is_dictionary(type_):
            type_ = type_.value_type
        return ".".join(node.names).removeprefix(BINARY_OF), type_

    def _member(self, node: Node) -> tuple[str, pa.DataType] | None:
        """Return path and type of the member of documents that a call stands for.

        `json_get_int(json_get(column, 'a'), 'b')` is the member `b` of the member `a`.
        """
        type_, names, held = RETURNED[node.op], list[str](), node
        while held.op == "json_get" or held is node:
            inside, name = held.parts
            if name.text is None:
                return None
            names.insert(0, name.text)
            held = inside.parts[0] if inside.op == "arrow_cast" else inside
        if not held.names:
            return None
        return member_path(".".join(held.names), tuple(names)), type_

    def _value(self, node: Node, type_: pa.DataType, strict: bool) -> pa.Scalar | None:
        literal = scalar_of(node, engine())
        return None if literal is None else as_value(literal, type_, strict)

    def _compared(self, node: Node, strict: bool) -> Predicate | None:
        (left, right), op = node.parts, node.op
        column = self._column(left)
        if column is None:
            left, right, op = right, left, FLIPPED[op]
            column = self._column(left)
        if column is None:
            return None
        path, type_ = column
        value = self._value(right, type_, strict)
        if value is None:
            return None
        if op in ("=", "!="):
            return On(path, questions.Among((value,)))
        low, high = (value, None) if op in (">", ">=") else (None, value)
        closed = op in (">=", "<=")
        return On(path, questions.Within(low, high, closed, closed))

    def _between(self, node: Node, strict: bool) -> Predicate | None:
        column = self._column(node.parts[0])
        ends = [self._value(one, column[1], strict) for one in node.parts[1:]] if column else [None]
        return (
            None
            if column is None or None in ends
            else On(column[0], questions.Within(ends[0], ends[1]))
        )

    def _in(self, node: Node, strict: bool) -> Predicate | None:
        column = self._column(node.parts[0])
        if column is None:
            return None
        path, type_ = column
        values = [self._value(one, type_, strict and "." not in path) for one in node.parts[1:]]
        given = tuple(value for value in values if value is not None)
        return On(path, questions.Among(given)) if len(given) == len(values) else None

    def _is_true(self, node: Node, wanted: bool) -> Predicate | None:
        column = self._column(node)
        if column is None or not pa.types.is_boolean(column[1]):
            return None
        return On(column[0], questions.Among((pa.scalar(wanted),)))

    def _like(self, node: Node) -> Predicate | None:
        column, pattern = self._column(node.parts[0]), node.parts[1]
        form = pattern.text
        if column is None or form is None:
            return None
        path, type_ = column
        if not is_text(type_) or "\\" in form:
            return None
        prefix = form.split("%")[0].split("_")[0]
        if prefix == form:
            return On(path, questions.Among((pa.scalar(prefix, type_),)))
        question = questions.StartsWith(pa.scalar(prefix, type_))
        return On(path, question, exact=form == f"{prefix}%") if prefix else None

    def _call(self, node: Node) -> Predicate | None:
        """Return the predicate of a call of a function over a column and a literal."""
        ask = _CALLS.get(node.op)
        if ask is None or len(node.parts) != 2:
            return None
        held = node.parts[0]
        if node.op in MEETING and held.op == "arrow_cast":  # well-known binary without a name
            held = held.parts[0]
        column = self._column(held)
        literal = None if column is None else scalar_of(node.parts[1], engine())
        if column is None or literal is None or not literal.is_valid:
            return None
        question = ask(literal, column[1])
        return None if question is None else On(column[0], question)


Ask = Callable[[pa.Scalar, pa.DataType], Question | None]
"""Returns what a call asks, by the literal and the type of the column."""


def _of_text(ask: Callable[[str, pa.DataType], Question | None]) -> Ask:
    """Return what a call with a text asks of a column of text."""

    def question(literal: pa.Scalar, type_: pa.DataType) -> Question | None:
        is_asked = is_text(literal.type) and is_text(type_)
        return ask(literal.as_py(), type_) if is_asked else None

    return question


def _has_words(text: str, type_: pa.DataType) -> Question | None:
    """Return a question for words; none at all are no question."""
    words, _ = simple(text)
    return questions.HasWords(tuple(dict.fromkeys(words))) if words else None


def _intersects(literal: pa.Scalar, type_: pa.DataType) -> Question | None:
    """Return a question for geometries that meet one: all of which more is said do."""
    held = literal.as_py()
    if isinstance(held, bytes) and held[:1] not in (b"\0", b"\1", b"0"):
        held = held.decode()
    return questions.Intersects(held if isinstance(held, bytes) else binary_of(held))


def _labels(every: bool) -> Ask:
    """Return what a call asks of labels of a list; null and none at all are no question."""

    def question(literal: pa.Scalar, type_: pa.DataType) -> Question | None:
        if not (pa.types.is_list(type_) or pa.types.is_large_list(type_)):
            return None
        given = literal.values if pa.types.is_nested(literal.type) else [literal]
        labels = [as_value(one, type_.value_type, strict=False) for one in given]
        known = tuple(one for one in labels if one is not None)
        return questions.HasLabels(known, every) if 0 < len(labels) == len(known) else None

    return question


_CALLS: dict[str, Ask] = {
    **dict.fromkeys(MEETING, _intersects),
    "starts_with": _of_text(
        lambda text, of: questions.StartsWith(pa.scalar(text, of)) if text else None
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
