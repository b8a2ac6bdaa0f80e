"""Mutants: small wrong changes of a parser, one at a time.

The operators are those a reader of bytes goes wrong by: a bound off by one, a check left out, the
other end first, another mask or shift, a level compared wrongly. What builds an error or says its
place or what it found, what names the owner of bytes for `explain`, an annotation or a docstring is
left alone.

    mutants(source)             every mutant of a file, in the order of its text
    mutated(source, mutant)     the tree with that one change
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sources import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = Callable[[], None]
"""Changes one node of a tree in place."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
"""Operators and their replacements."""

OTHER_END = {"little": "big", "big": "little"}
CALLS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_LITTLE = re.compile(r"<[uifc]\d")
_CHECK = re.compile(r"_?(check|require|bound|expect)(_|$)")
_ASIDE = re.compile(r"(\w+\.)*\w*ctx\.(at|leaf|group)|Place")
"""Calls that only give positions to errors and `explain`."""

_WORDS = frozenset({"found", "wanted"})
"""Arguments that are the words of an error."""

_SPANS = re.compile(r"(\w+\.)*ctx\.spans is not None")
"""Conditions of code that only names owners of bytes."""

_COMPILED = re.compile("compiled|intrinsic")
"""Decorators that compile a function."""

_CLAUSE = re.compile(r"L\.[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: its number in the file, its place, what it does, the clauses around it.

    `line` to `end_line` are the lines of which a case must run one to notice, `body` those of the
    function. Nobody sees which lines of a compiled function run: they are those of its module.
    """

    path: str
    number: int
    line: int
    end_line: int
    body: range
    function: str
    text: str
    clauses: tuple[str, ...]

    @property
    def id(self) -> str:
        """Name that holds while the function keeps its text: file, function, change."""
        return f"{self.path}:{self.function}: {self.text}"


def mutants(source: Source) -> list[Mutant]:
    """Return every mutant of a file; a change that occurs twice in a function is numbered."""
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    unknown, compiled = _unknown_lengths(source.tree), _compiled(source.tree)
    for number, (place, function, text, _) in enumerate(_changes(source.tree)):
        name = f"{function.name}: {text}"
        seen[name] = seen.get(name, 0) + 1
        if place in unknown:
            continue
        label = text if seen[name] == 1 else f"{text} ({seen[name]})"
        end = getattr(place, "end_lineno", place.lineno) or place.lineno
        clauses = _clauses(function)
        body = range(function.body[0].lineno, (function.end_lineno or end) + 1)
        lines = place.lineno, end, body
        if place.lineno in compiled:
            lines = 1, source.text.count("\n"), range(1, source.text.count("\n") + 1)
        found.append(Mutant(source.name, number, *lines, function.name, label, clauses))
    return found


def _unknown_lengths(tree: ast.Module) -> set[ast.AST]:
    """Return the 1 of every `reshape(-1)`: any negative number says the same."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        argument.operand
        for call in calls
        if _name(call.func) == "reshape"
        for argument in call.args
        if isinstance(argument, ast.UnaryOp) and isinstance(argument.op, ast.USub)
    }


def _compiled(tree: ast.Module) -> set[int]:
    """Return the lines of functions that are compiled for their speed, and of those inside them."""
    return {
        line
        for function in tree.body
        if isinstance(function, Function)
        and any(_COMPILED.match(ast.unparse(one)) for one in function.decorator_list)
        for line in range(function.lineno, (function.end_lineno or 0) + 1)
    }


def mutated(source: Source, number: int) -> ast.Module:
    """Return the tree of a file with its change `number`."""
    tree = ast.parse(source.text, str(source.path))
    for at, (_, _, _, change) in enumerate(_changes(tree)):
        if at == number:
            change()
            return ast.fix_missing_locations(tree)
    raise IndexError(f"{source.name} has no mutant {number}")


Found = tuple[ast.expr | ast.stmt, Function, str, Change]
"""Place of a change, the function it is in, what it does, and the change."""


def _changes(tree: ast.Module) -> Iterator[Found]:
    for function in ast.walk(tree):
        if isinstance(function, Function):
            for node in _own(function):
                for place, text, change in _of(node):
                    yield place, function, text, change


def _own(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body.

    Inner functions, errors, the places and words of these, owners of bytes, and annotations are
    left out.
    """
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        if isinstance(node, Function | ast.ClassDef | ast.Raise | ast.JoinedStr | ast.Assert):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and _ASIDE.fullmatch(ast.unparse(node.func)):
            continue
        if isinstance(node, ast.keyword) and node.arg in _WORDS:
            continue
        if isinstance(node, ast.If) and _asks_for_owners(node.test):
            pending += reversed(node.orelse)
            continue
        yield node
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        inner = [child for child in ast.iter_child_nodes(node) if child is not annotation]
        pending += reversed(inner)


def _asks_for_owners(test: ast.expr) -> bool:
    """Whether a condition holds only where the owners of bytes are wanted."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(_SPANS.fullmatch(ast.unparse(part)) for part in parts)


def _of(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, Change]]:
    """Yield the changes of one node."""
    match node:
        case ast.If(test=test, body=[*names, ast.Raise() as error]) if all(
            isinstance(name, ast.Assign) for name in names
        ):
            named = any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(test))
            text = f"never: {ast.unparse(test)}"
            yield test if named else error, text, _set(node, "test", ast.Constant(False))
        case ast.Expr(value=ast.Call() as call) if _CHECK.match(_name(call.func)):
            text = f"left out: {_name(call.func)}()"
            yield node, text, _set(node, "value", ast.Constant(None))
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            yield node, *_swap(node, op, "ops", in_list=True)
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAPPED:
            yield node, *_swap(node, op, "op", in_list=False)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            text = f"not left out: {ast.unparse(operand)}"
            yield node, text, _set(node, "operand", ast.UnaryOp(ast.Not(), operand))
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield node, f"{name} -> {CALLS[name]}", _set(node.func, "id", CALLS[name])
        case ast.Call(func=ast.Attribute(attr=name)) if name in CALLS:
            yield node, f"{name} -> {CALLS[name]}", _set(node.func, "attr", CALLS[name])
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield node, f"{value} -> {value + 1}", _set(node, "value", value + 1)
        case ast.Constant(value=str() as value) if value in OTHER_END:
            yield node, f"{value} -> {OTHER_END[value]}", _set(node, "value", OTHER_END[value])
        case ast.Constant(value=str() as value) if _LITTLE.fullmatch(value):
            other = f">{value[1:]}"
            yield node, f"{value} -> {other}", _set(node, "value", other)


def _swap(
    node: ast.expr | ast.stmt, op: ast.AST, field: str, *, in_list: bool
) -> tuple[str, Change]:
    other = SWAPPED[type(op)]()
    text = f"{type(op).__name__} -> {type(other).__name__}: {ast.unparse(node)[:60]}"
    return text, _set(node, field, [other] if in_list else other)


def _set(node: ast.AST, field: str, value: object) -> Change:
    return lambda: setattr(node, field, value)


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _clauses(function: Function) -> tuple[str, ...]:
    texts = (
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return tuple(sorted({text for text in texts if _CLAUSE.fullmatch(text)}))
