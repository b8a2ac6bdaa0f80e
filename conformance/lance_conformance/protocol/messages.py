"""Messages: one JSON object per line, integers that may be large as decimal strings.

The schemas in `schemas/protocol.schema.json` are the definition; this module encodes, decodes and
checks against them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from lance_conformance import schemas
from lance_conformance.untrusted_text import printable, printable_json

VERSION = 1
"""Version of the protocol, independent of that of the suite."""

MAX_LINE_BYTES = 2**20
"""Maximum length of a message; larger data goes to files."""

MAX_DEPTH = 64
"""Maximum nesting depth of objects and lists in a message."""

MAX_INTEGER = 2**64
"""Upper bound of numbers in a message; larger ones are text."""

Message = dict[str, Any]
"""A decoded JSON object."""


class ProtocolError(Exception):
    """The adapter violated the protocol; the message describes how, and shows the line."""


def encode(message: Mapping[str, object]) -> bytes:
    """Return the line of a message."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return the message of a line, with printable texts. Raises ProtocolError."""
    shown = printable(line[:200].decode("utf-8", "replace").rstrip())
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(f"a line of more than {MAX_LINE_BYTES} bytes, it begins {shown!r}")
    try:
        message = json.loads(
            line.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON ({printable(str(error))}): {shown!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"not a JSON object: {shown!r}")
    if _is_nested_deeper(message, MAX_DEPTH):
        raise ProtocolError(f"more than {MAX_DEPTH} levels of nesting: {shown!r}")
    result: Message = printable_json(message)
    return result


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return found


def _integer(digits: str) -> int:
    if len(digits) > len(str(MAX_INTEGER)) or abs(int(digits)) >= MAX_INTEGER:
        raise ValueError("an integer of more than 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite")
    return number


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _is_nested_deeper(message: Message, depth: int) -> bool:
    """Whether values are nested more than `depth` levels deep."""
    level: list[Any] = [message]
    for _ in range(depth):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def request_problems(message: Mapping[str, object]) -> list[str]:
    """Return the schema violations of a request."""
    return schemas.problems("protocol", message, f"{message['op']}.request")


def response_problems(op: str, message: Mapping[str, object]) -> list[str]:
    """Return the schema violations of the response to an `op`: of the envelope, then the body."""
    found = schemas.problems("protocol", message, "response")
    if not found and "ok" in message:
        found = schemas.problems("protocol", message["ok"], f"{op}.ok")
    return found


def operations() -> list[str]:
    """Return the operations of this version of the protocol."""
    names = schemas.definitions("protocol")
    return sorted(name.removesuffix(".request") for name in names if name.endswith(".request"))
