"""Rewriting: SQL in Lance's dialect becomes SQL that DataFusion parses.

Text lies in single or in double quotes, and a name that is no plain word in backticks. A text is
bounded in bytes, brackets and operators before it is parsed, so that neither the parser nor the
tree can exhaust the stack. The names of columns are looked up in the schema, exactly or else in any
case, and written in the quotes that DataFusion expects. Arguments of functions over documents and
geometries get the type that these take. What the dialect of Lance does not have is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import QueryTooLarge
from lanceref.file.schema import EXTENSION_KEY
from lanceref.index.geometry import is_geometry

from pylanceref.sql.functions import BINARY_OF, JSON_FUNCTIONS
from pylanceref.sql.functions import NAMES as GEOMETRY_FUNCTIONS

TEXT_BYTES = 1 << 20
"""Bytes of a text: its tree takes some hundred times as many."""

NESTING = 48
"""Brackets inside each other: pylance refuses 50."""

DEPTH = 250
"""Operators that apply to each other's results, one level of the tree each."""

DIGITS = 4300
"""Digits of one number."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<hex>[xX]'[0-9a-fA-F]*'|0[xX][0-9a-fA-F]+)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>::|<=>|<=|>=|<>|!=|==|\|\||<<|>>|[-+*/%=<>!&|^~,.;:?@\#$(){}\[\]\\])""",
    re.VERBOSE | re.DOTALL,
)


def words(text: str) -> frozenset[str]:
    """Return what lies between the spaces of a text."""
    return frozenset(text.split())


_DEEPENING = words("- + * / % = < > <= >= <> != || << >> :: [ . ~ ! NOT IN IS LIKE ILIKE BETWEEN")
_BESIDE = words(", AND OR WHEN THEN ELSE")
_CLOSING = {"(": ")", "[": "]", "CASE": "END"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text: `kind` is the name of its group above."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in capitals, empty for what is none."""
        return self.text.upper() if self.kind == "word" else ""


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, without blanks and comments.

    Raises QueryTooLarge for a text beyond the bounds, QueryRefused for one with other letters.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refusal(text, "a letter is half of a pair") from error
    if size > TEXT_BYTES:
        raise QueryTooLarge(f"a text of {size} bytes; {TEXT_BYTES} are the most")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise refusal(text, f"{text[at]!r} at {at}")
        kind = match.lastgroup or ""
        if kind == "number" and len(match[0]) > DIGITS:
            raise QueryTooLarge(f"a number has at most {DIGITS} digits")
        if kind != "space":
            found.append(Token(kind, match[0]))
        at = match.end()
    if not found:
        raise refusal(text, "an expression is expected")
    _check_depth(found, text)
    return found


def refusal(text: str, reason: str) -> QueryRefused:
    """Return the refusal of a text, which shows the beginning of it."""
    shown = text if len(text) <= 1000 else f"{text[:1000]}..."
    return QueryRefused(f"Error parsing statement: {shown!a} ({reason[:1000]})")


def _check_depth(tokens: Sequence[Token], text: str) -> None:
    """Raise QueryTooLarge for brackets nested too deep, or operators on one another's results."""
    frames: list[tuple[str, int, int]] = []
    closing, start, best, depth = "", 0, 0, 0
    for token in tokens:
        sign = token.word or (token.text if token.kind == "sign" else "")
        if sign in _CLOSING:
            frames.append((closing, start, best))
            if len(frames) > NESTING:
                raise QueryTooLarge(f"brackets are nested at most {NESTING} deep")
            closing, start, best = _CLOSING[sign], depth, depth
        elif sign in (")", "]") or sign == "END" == closing:
            if sign != closing:
                raise refusal(text, f"{token.text} closes nothing")
            depth = max(best, depth)
            closing, start, best = frames.pop()
        elif sign in _BESIDE:
            best, depth = max(best, depth), start
        depth += sign in _DEEPENING
        if depth > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
    if frames:
        raise refusal(text, f"{closing} is expected")


RESERVED = words(
    "AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE SIMILAR TO BETWEEN CASE WHEN THEN ELSE END "
    "AS ESCAPE DISTINCT FROM SELECT SYMMETRIC ANY ALL EXISTS COLLATE UNKNOWN"
)
"""Words that are never columns."""

HALVES = "_cast_list_f16"
"""Function of Lance: a cast of vectors to numbers of 16 bits."""

FORMS = words("CAST TRY_CAST SAFE_CAST ANY ALL IN AND OR NOT VALUES")
"""Words before a bracket that call no function."""

INSIDE_CALLS = words("CEIL FLOOR SUBSTR SUBSTRING TRIM EXTRACT POSITION OVERLAY INTERVAL ANY ALL")
"""What has a syntax of its own in SQL: Lance takes it among the arguments of a call only."""

TYPE_WORDS = words(
    "BOOLEAN TINYINT SMALLINT INT INTEGER BIGINT FLOAT DOUBLE DECIMAL STRING BINARY DATE "
    "TIMESTAMP DATETIME"
)
"""Types of casts outside of calls; inside DataFusion's names are known too."""

MICROSECONDS = frozenset(("TIMESTAMP", "DATETIME"))
"""Types that count microseconds outside of calls where no unit is given."""

NOTHING = Token("", "")
"""Lies before the first token and after the last one."""


@dataclass(slots=True)
class _Bracket:
    """A bracket that is open: the function that it calls, and the type of its argument."""

    function: str = ""
    cast: str = ""


class Rewriter:
    """Writes tokens for DataFusion, the columns of one schema among them."""

    def __init__(self, schema: pa.Schema, text: str, tokens: Sequence[Token]) -> None:
        self._schema, self._text = schema, text
        self._tokens = [*tokens, NOTHING, NOTHING]
        self._lower = {name.lower(): name for name in reversed(schema.names)}
        self._open: list[_Bracket] = []

    def sql(self) -> str:
        """Return the SQL of the tokens. Raises QueryRefused."""
        return " ".join(part for at in range(len(self._tokens) - 2) for part in self._parts(at))

    def _parts(self, at: int) -> list[str]:
        """Return what is written for a token."""
        token, before = self._tokens[at], self._tokens[at - 1]
        if token.kind == "sign":
            return self._sign(token.text, before, at + 1)
        if token.kind == "text":
            inside = token.text[1:-1].replace(token.text[0] * 2, token.text[0])
            return ["'" + inside.replace("'", "''") + "'"]
        if token.kind == "name":
            name = token.text[1:-1].replace("``", "`")
            return [_quoted(name if before.text == "." else self._column(name) or name)]
        if token.kind == "word":
            return [self._word(token, before, at)]
        return [f"X'{token.text[2:]}'" if token.text[:2] in ("0x", "0X") else token.text]

    @property
    def _inside(self) -> bool:
        return any(one.function for one in self._open)

    def _refused(self, what: str) -> QueryRefused:
        return refusal(self._text, f"{what} is not supported SQL in lance")

    def _sign(self, sign: str, before: Token, start: int) -> list[str]:
        """Return a sign, with the types of arguments that it begins and ends."""
        values = ("NULL", "TRUE", "FALSE", "END")
        is_prefix = (before.word in RESERVED and before.word not in values) or (
            before.kind in ("", "sign") and before.text not in (")", "]")
        )
        token, after = self._tokens[start : start + 2]
        is_last = after.text in ("", ")") or after.word in ("AND", "OR")
        if sign == "~" and is_prefix and (token.text == "(" or (token.text and is_last)):
            return ["NOT"]  # it applies to all of a condition: brackets, or one name
        if sign in ("~", "<=>") or (sign == "+" and is_prefix):
            raise self._refused(sign)
        if sign in ("(", "["):
            is_call = before.kind == "word" and before.word not in (FORMS | RESERVED | TYPE_WORDS)
            self._open.append(_Bracket(before.text.lower() if is_call and sign == "(" else ""))
            return [sign, *self._begin_argument(start)]
        if sign in (")", "]"):
            return [*_end_argument(self._open.pop()), sign]
        if sign == "," and self._open:
            return [*_end_argument(self._open[-1]), sign, *self._begin_argument(start)]
        return ["=" if sign == "==" else sign]

    def _begin_argument(self, start: int) -> list[str]:
        """Begin the cast of an argument to the type its function takes, where that is known."""
        own, first = self._open[-1], self._tokens[start - 1].text == "("
        token, own.cast = self._tokens[start], ""
        alone = self._alone(start) if own.function else None
        if own.function in JSON_FUNCTIONS:
            type_ = _storage(alone.type) if alone is not None and first else pa.utf8()
            if type_ not in (pa.utf8(), pa.large_utf8(), pa.large_binary()):
                raise QueryRefused(f"a JSON document is expected here, not {type_}")
            own.cast = "LargeBinary" if first else "" if token.kind == "text" else "Utf8"
        elif own.function in GEOMETRY_FUNCTIONS:
            own.cast = "Binary"
            if alone is not None and not is_geometry(_storage(alone.type), extension_of(alone)):
                raise QueryRefused(f"{own.function} takes geometries, got {_storage(alone.type)}")
            if alone is not None and BINARY_OF + alone.name in self._schema.names:
                own.cast = ""  # the column is read as its binary form
        elif own.function == HALVES and alone is not None:
            size = getattr(_storage(alone.type), "list_size", 0)
            own.cast = f"FixedSizeList({size} x Float16)"
        elif own.function == "arrow_cast" and first and token.text.isdecimal():
            mark, type_ = self._tokens[start + 1 : start + 3]
            if mark.text == "," and "Time32" in type_.text:
                own.cast = "Int32"  # a literal of 64 bits is one of 32 there
        return ["arrow_cast", "("] if own.cast else []

    def _alone(self, start: int) -> pa.Field | None:
        """Return the field that an argument names, None when it is something else."""
        names: list[str] = []
        while self._tokens[start].kind in ("word", "name"):
            names.append(self._tokens[start].text.strip("`"))
            if self._tokens[start + 1].text in (",", ")"):
                return field_at(self._schema, (self._known(names[0]) or "", *names[1:]))
            if self._tokens[start + 1].text != ".":
                return None
            start += 2
        return None

    def _word(self, token: Token, before: Token, at: int) -> str:
        word, after = token.word, self._tokens[at + 1]
        if before.text == ".":
            return _quoted(token.text)
        is_typed = word in MICROSECONDS and after.kind == "text"
        if is_typed or before.text == "::" or before.word == "AS":
            return self._type(token, after)
        if word == "ESCAPE" and after.text[1:-1] != "\\":
            raise refusal(self._text, "LIKE has no escape character but the backslash")
        if after.text == "(" or after.kind in ("text", "hex"):
            if word in INSIDE_CALLS and not self._inside:
                raise self._refused(token.text)
            return "" if token.text.lower() == HALVES else token.text
        is_unit = before.kind == "text" and self._tokens[at - 2].word == "INTERVAL"
        if word in RESERVED or is_unit or (word == "ARRAY" and after.text == "["):
            return token.text
        found = self._column(token.text)
        return token.text if found is None else _quoted(found)

    def _type(self, token: Token, after: Token) -> str:
        """Return the type of a cast as DataFusion names it. Raises QueryRefused."""
        word = token.word
        if not self._inside and word not in TYPE_WORDS:
            raise refusal(self._text, f"Unsupported data type: {token.text}")
        if word == "DECIMAL" and after.text != "(":
            raise refusal(self._text, "Must provide precision and scale for decimal")
        if word in MICROSECONDS and not self._inside:
            return "TIMESTAMP" if after.text == "(" else "TIMESTAMP(6)"
        return "BYTEA" if word == "BINARY" else token.text

    def _known(self, name: str) -> str | None:
        """Return the column of a name: the same letters, else the same in another case."""
        return name if name in self._schema.names else self._lower.get(name.lower())

    def _column(self, name: str) -> str | None:
        """Return the column to read for a name: geometries in binary form."""
        found, own = self._known(name), self._open[-1] if self._open else _Bracket()
        is_binary = own.function in GEOMETRY_FUNCTIONS and not own.cast
        return BINARY_OF + found if found is not None and is_binary else found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _end_argument(own: _Bracket) -> list[str]:
    """End the cast of an argument."""
    cast, own.cast = own.cast, ""
    return [",", f"'{cast}'", ")"] if cast else []


def _storage(type_: pa.DataType) -> pa.DataType:
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_


def field_at(schema: pa.Schema, names: Iterable[str]) -> pa.Field | None:
    """Return the field at a path, which may be null where one above it may; None for none."""
    field = pa.field("", pa.struct(list(schema)), nullable=False)
    for name in names:
        if not pa.types.is_struct(field.type) or field.type.get_field_index(name) < 0:
            return None
        inner = field.type.field(name)
        field = inner.with_nullable(field.nullable or inner.nullable)
    return field


def extension_of(field: pa.Field) -> str:
    """Return the extension name that a field declares, empty without one."""
    metadata = field.metadata or {}
    held: bytes = metadata.get(EXTENSION_KEY.encode(), b"")
    return held.decode("utf-8", "replace")
