"""Rewriting: SQL in Lance's dialect becomes SQL that DataFusion parses.

Text lies in single or in double quotes, and a name that is no plain word in backticks. A text is
bounded in bytes, brackets and operators before it is parsed, so that neither the parser nor the
tree can exhaust the stack. The names of columns are looked up in the schema, exactly or else in any
case, and written in the quotes that DataFusion expects. Arguments of functions over documents and
geometries get the type that these take. What the dialect of Lance does not have is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.logical_types import EXTENSION_KEY
from lanceref.core.query_limits import QueryTooLarge
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


_DEEPENING = words("- + * / % = < > <= >= <> != || << >> :: [ . ~ !")
_DEEPENING_WORDS = words("NOT IN IS LIKE ILIKE BETWEEN")
_CLOSING = {"(": ")", "[": "]"}


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
    """Raise QueryTooLarge for brackets or operators nested too deep."""
    frames: list[tuple[str, int, int]] = []
    own = inner = best = 0
    for token in tokens:
        sign = token.text if token.kind == "sign" else ""
        own += sign in _DEEPENING or token.word in _DEEPENING_WORDS
        if sign in _CLOSING or token.word == "CASE":
            frames.append((_CLOSING.get(sign, "END"), own, max(inner, best)))
            own = inner = best = 0
            if len(frames) > NESTING:
                raise QueryTooLarge(f"brackets are nested at most {NESTING} deep")
        elif sign in (")", "]") or (token.word == "END" and frames and frames[-1][0] == "END"):
            if not frames or frames[-1][0] != (sign or "END"):
                raise refusal(text, f"{token.text} closes nothing")
            depth = max(best, own + inner) + 1
            _, own, inner = frames.pop()
            inner, best = max(inner, depth), 0
        elif sign == "," or token.word in ("AND", "OR", "WHEN", "THEN", "ELSE"):
            best, own, inner = max(best, own + inner), 0, 0
        if own + inner > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
    if frames:
        raise refusal(text, f"{frames[-1][0]} is expected")


RESERVED = words(
    "AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE SIMILAR TO BETWEEN CASE WHEN THEN ELSE END "
    "AS ESCAPE DISTINCT FROM SELECT SYMMETRIC ANY ALL EXISTS COLLATE UNKNOWN"
)
"""Words that are never columns."""

TYPED_TEXT = words("DATE TIME TIMESTAMP DATETIME INTERVAL")
"""Words that give the text after them a type."""

HALVES = "_cast_list_f16"
"""Function of Lance: a cast of vectors to numbers of 16 bits."""

CONSTANTS = frozenset(["CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"])
"""Functions that are called without brackets."""

FORMS = words("CAST TRY_CAST SAFE_CAST ANY ALL IN AND OR NOT VALUES")
"""Words before a bracket that call no function."""

INSIDE_CALLS = words("CEIL FLOOR SUBSTR SUBSTRING TRIM EXTRACT POSITION OVERLAY")
"""Functions with a syntax of their own in SQL: Lance takes them as arguments of a call only."""

ARGUMENT_WORDS = words(
    "YEAR QUARTER MONTH WEEK DAY DOW DOY ISODOW HOUR MINUTE SECOND MILLISECOND MICROSECOND "
    "NANOSECOND EPOCH BOTH LEADING TRAILING FOR PLACING"
)
"""Words between the arguments of functions with a syntax of their own."""

TYPE_WORDS = words(
    "BOOLEAN TINYINT SMALLINT INT INTEGER BIGINT FLOAT DOUBLE DECIMAL STRING BINARY DATE "
    "TIMESTAMP DATETIME"
)
"""Types of casts outside of calls; inside DataFusion's names are known too."""

REFUSED_SIGNS = words("<=> == & | ^ # @ ? $ ; { } \\ :")
"""Operators that Lance does not have."""

BIT_SIGNS = words("& | ^")
"""Those of them that Lance leaves to DataFusion inside of calls."""

CONNECTING = words("AND OR NOT WHEN THEN ELSE CASE BETWEEN LIKE ILIKE IS")
"""Words before a bracket that holds one expression."""

MICROSECONDS = frozenset(("TIMESTAMP", "DATETIME"))
"""Types that count microseconds where no unit is given."""


@dataclass(slots=True)
class _Bracket:
    """A bracket that is open: whether a call's, the function, and the type of its argument."""

    is_call: bool
    is_list: bool
    function: str = ""
    cast: str = ""


class Rewriter:
    """Writes tokens for DataFusion, the columns of one schema among them."""

    def __init__(self, schema: pa.Schema, text: str) -> None:
        self._schema, self._text = schema, text
        self._names = frozenset(schema.names)
        self._lower = {name.lower(): name for name in reversed(schema.names)}
        self._open: list[_Bracket] = []

    def sql(self, tokens: Sequence[Token]) -> str:
        """Return the SQL of tokens. Raises QueryRefused."""
        nothing = Token("", "")
        parts = []
        for number, token in enumerate(tokens):
            before = tokens[number - 1] if number else nothing
            after = tokens[number + 1] if number + 1 < len(tokens) else nothing
            if token.kind == "sign":
                parts += self._sign(token.text, before, number, tokens)
            elif token.kind == "text":
                inside = token.text[1:-1].replace(token.text[0] * 2, token.text[0])
                parts.append("'" + inside.replace("'", "''") + "'")
            elif token.kind == "name":
                name = token.text[1:-1].replace("``", "`")
                is_part = before.text == "."
                if not is_part and name not in self._names and after.text != ".":
                    raise self._unknown(name)
                parts.append(_quoted(name if is_part else self._column(name)))
            elif token.kind == "word":
                parts.append(self._word(token, before, after, number, tokens))
            elif token.text[:2] in ("0x", "0X"):
                parts.append(f"X'{token.text[2:]}'")
            else:
                parts.append(token.text)
        return " ".join(parts)

    @property
    def _inside(self) -> bool:
        return any(one.is_call for one in self._open)

    def _sign(self, sign: str, before: Token, number: int, tokens: Sequence[Token]) -> list[str]:
        """Return a sign, with the types of arguments that it begins and ends."""
        values = ("NULL", "TRUE", "FALSE", "END")
        is_prefix = (before.word in RESERVED and before.word not in values) or (
            before.kind in ("", "sign") and before.text not in (")", "]")
        )
        if sign == "~" and is_prefix and self._denies(number + 1, tokens):
            return ["NOT"]
        if sign in ("~", "+") and (is_prefix or sign == "~"):
            raise refusal(self._text, f"{sign} is not supported SQL in lance")
        if sign == "==":
            return ["="]
        if sign in REFUSED_SIGNS and not (sign in BIT_SIGNS and self._inside):
            raise refusal(self._text, f"{sign} is not supported SQL in lance")
        if sign in ("(", "["):
            is_call = before.kind == "word" and before.word not in (FORMS | RESERVED | TYPE_WORDS)
            if is_call and before.word in INSIDE_CALLS and not self._inside:
                raise refusal(self._text, f"{before.text} is not supported SQL in lance")
            is_list = sign == "[" or (before.kind == "word" and before.word not in CONNECTING)
            own = _Bracket(sign == "(" and is_call, is_list)
            self._open.append(own)
            if not own.is_call:
                return [sign]
            own.function = before.text.lower()
            return [sign, *self._begin_argument(own, number + 1, tokens)]
        if sign in (")", "]"):
            return [*_end_argument(self._open.pop()), sign]
        if sign == "," and self._open:
            own = self._open[-1]
            if not own.is_list:
                raise refusal(self._text, "tuples are not supported SQL in lance")
            return [*_end_argument(own), sign, *self._begin_argument(own, number + 1, tokens)]
        return [sign]

    def _denies(self, start: int, tokens: Sequence[Token]) -> bool:
        """Whether a sign before a condition applies to all of it: brackets, or one name."""
        if start >= len(tokens) or tokens[start].text == "(":
            return start < len(tokens)
        after = tokens[start + 1] if start + 1 < len(tokens) else Token("", "")
        return after.text in ("", ")") or after.word in ("AND", "OR")

    def _begin_argument(self, own: _Bracket, start: int, tokens: Sequence[Token]) -> list[str]:
        """Begin the cast of an argument to the type its function takes, where that is known."""
        first, own.cast = tokens[start - 1].text == "(", ""
        alone = self._alone(start, tokens)
        if own.function in JSON_FUNCTIONS:
            if alone is not None and first:
                self._check_document(alone)
            is_text = tokens[start].kind == "text"
            own.cast = "LargeBinary" if first else "" if is_text else "Utf8"
        elif own.function in GEOMETRY_FUNCTIONS:
            if alone is not None and self._check_geometry(own.function, alone):
                return []
            own.cast = "Binary"
        elif own.function == HALVES and alone is not None:
            size = getattr(_storage(alone.type), "list_size", 0)
            own.cast = f"FixedSizeList({size} x Float16)"
        elif own.function == "arrow_cast" and first:
            after = [token.text for token in tokens[start : start + 3]]
            is_number = tokens[start].kind == "number" and tokens[start].text.isdecimal()
            if is_number and len(after) == 3 and after[2].startswith(("'Time32", '"Time32')):
                own.cast = "Int32"  # a literal of 64 bits is one of 32 there
        return ["arrow_cast", "("] if own.cast else []

    def _alone(self, start: int, tokens: Sequence[Token]) -> pa.Field | None:
        """Return the field that an argument names, None when it is something else."""
        at, field, place = start, None, pa.struct(list(self._schema))
        while at + 1 < len(tokens) and tokens[at].kind in ("word", "name"):
            name = tokens[at].text.strip("`")
            if field is None:
                name = name if name in self._names else self._lower.get(name.lower(), name)
            if not pa.types.is_struct(place) or place.get_field_index(name) < 0:
                return None
            field = place.field(name)
            place = field.type
            if tokens[at + 1].text in (",", ")"):
                return field
            if tokens[at + 1].text != ".":
                return None
            at += 2
        return None

    def _check_document(self, field: pa.Field) -> None:
        type_ = _storage(field.type)
        known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_large_binary)
        if not any(test(type_) for test in known):
            raise QueryRefused(f"a JSON document is expected here, not {type_}")

    def _check_geometry(self, function: str, field: pa.Field) -> bool:
        """Return whether a column is read as its binary form. Raises QueryRefused."""
        type_, extension = _storage(field.type), extension_of(field)
        if not is_geometry(type_, extension):
            raise QueryRefused(f"{function} takes geometries, got {type_}")
        return field.name in self._names and BINARY_OF + field.name in self._names

    def _word(
        self, token: Token, before: Token, after: Token, number: int, tokens: Sequence[Token]
    ) -> str:
        word = token.word
        if before.text == ".":
            return _quoted(token.text)
        if before.text == "::" or before.word == "AS":
            return self._type(token, after)
        if word in RESERVED:
            if word in ("SELECT", "SYMMETRIC", "ANY", "ALL", "EXISTS", "UNKNOWN", "SIMILAR"):
                raise refusal(self._text, f"{word} is not supported SQL in lance")
            if word == "ESCAPE" and after.text[1:-1] != "\\":
                raise refusal(self._text, "LIKE has no escape character but the backslash")
            if word == "CASE" and not self._inside:
                raise refusal(self._text, "CASE is not supported SQL in lance")
            return token.text
        if after.text == "(" or (word == "ARRAY" and after.text == "["):
            return "" if token.text.lower() == HALVES else token.text
        if after.kind in ("text", "hex"):
            if word not in TYPED_TEXT or (word == "INTERVAL" and not self._inside):
                raise refusal(self._text, f"{word} is not supported SQL in lance")
            return token.text
        is_known = token.text in self._names or token.text.lower() in self._lower
        if not is_known:
            if word in CONSTANTS or (self._inside and word in ARGUMENT_WORDS):
                return token.text
            if before.kind == "text" and number > 1 and tokens[number - 2].word == "INTERVAL":
                return token.text
            if before.kind == "word" and before.word in TYPE_WORDS | {"UNSIGNED"}:
                return token.text
        elif before.kind == "text" and number > 1 and tokens[number - 2].word == "INTERVAL":
            return token.text
        return _quoted(self._column(token.text))

    def _type(self, token: Token, after: Token) -> str:
        """Return the type of a cast as DataFusion names it. Raises QueryRefused."""
        word = token.word
        if not self._inside and word not in TYPE_WORDS:
            raise refusal(self._text, f"Unsupported data type: {token.text}")
        if word == "DECIMAL" and after.text != "(":
            raise refusal(self._text, "Must provide precision and scale for decimal")
        if word in MICROSECONDS:
            return "TIMESTAMP" if after.text == "(" else "TIMESTAMP(6)"
        return "BYTEA" if word == "BINARY" else token.text

    def _column(self, name: str) -> str:
        """Return the column of a name: the same letters, else the same in another case."""
        found = name if name in self._names else self._lower.get(name.lower())
        if found is None:
            raise self._unknown(name)
        own = self._open[-1] if self._open else None
        is_binary = own is not None and own.function in GEOMETRY_FUNCTIONS and not own.cast
        return BINARY_OF + found if is_binary else found

    def _unknown(self, name: str) -> QueryRefused:
        valid = ", ".join(self._schema.names)
        return QueryRefused(f"Schema error: No field named {name}. Valid fields are {valid}.")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _end_argument(own: _Bracket) -> list[str]:
    """End the cast of an argument."""
    cast, own.cast = own.cast, ""
    return [",", f"'{cast}'", ")"] if cast else []


def _storage(type_: pa.DataType) -> pa.DataType:
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_


def extension_of(field: pa.Field) -> str:
    """Return the extension name that a field declares, empty without one."""
    metadata = field.metadata or {}
    held: bytes = metadata.get(EXTENSION_KEY.encode(), b"")
    return held.decode("utf-8", "replace")
