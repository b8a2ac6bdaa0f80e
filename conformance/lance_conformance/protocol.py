"""Messages: one JSON object per line, integers that may be large as decimal strings.

The schemas in `schemas/protocol.schema.json` are the definition; this module encodes, decodes and
checks against them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lance_conformance import schemas

VERSION = 1
"""Version of the protocol, independent of the suite's."""

MAX_LINE_BYTES = 2**20
"""No message is longer; larger things go to files."""

Message = dict[str, Any]
"""A decoded JSON object."""


class ProtocolError(Exception):
    """The adapter did not keep to the protocol; the text says how, and shows the line."""


def encode(message: Mapping[str, object]) -> bytes:
    """Return the line of a message."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return the message of a line. Raises ProtocolError."""
    shown = line[:200].decode("utf-8", "replace").rstrip()
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(f"a line of more than {MAX_LINE_BYTES} bytes, it begins {shown!r}")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON ({error}): {shown!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"not a JSON object: {shown!r}")
    return message


def check_request(message: Mapping[str, object]) -> list[str]:
    """Return what is wrong with a request, by the schema of its operation."""
    return schemas.problems("protocol", message, f"{message['op']}.request")


def check_response(op: str, message: Mapping[str, object]) -> list[str]:
    """Return what is wrong with the response to an `op`: the envelope, then the body."""
    found = schemas.problems("protocol", message, "response")
    if not found and "ok" in message:
        found = schemas.problems("protocol", message["ok"], f"{op}.ok")
    return found


def operations() -> list[str]:
    """Return the operations this version of the runner can ask for."""
    names = schemas.definitions("protocol")
    return sorted(name.removesuffix(".request") for name in names if name.endswith(".request"))
