"""Refusals of Lance's core in any package: exceptions, panics and their meaning.

A panic of native code surfaces in two forms: as a special exception class, which is created by the
first panic (one for calls, another for awaited calls), and as an ordinary exception whose message
mentions one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from lance_conformance.adapters.server import Message, load_kinds

ORDINARY_ERRORS = (OSError, ValueError, RuntimeError, LookupError, TypeError, pa.ArrowException)
"""Exceptions by which Python bindings refuse."""

_PANIC_CLASSES = {"PanicException", "RustPanic"}
"""Names of the classes of panics."""

_PANIC_TEXT = re.compile(r"panicked|JoinError::Panic|\bpanic\b", re.IGNORECASE)
_KINDS = load_kinds(Path(__file__).with_name("pylance.kinds.toml"))


def refusal_types() -> tuple[type[BaseException], ...]:
    """Return the exceptions that are refusals, including panic classes once they exist."""
    classes = (*BaseException.__subclasses__(), *Exception.__subclasses__())
    return (*ORDINARY_ERRORS, *(one for one in classes if one.__name__ in _PANIC_CLASSES))


def refusal_response(error: BaseException) -> Message:
    """Return the response to a refusal; stage and kind follow from its message."""
    message = str(error)
    known = next((meaning for pattern, meaning in _KINDS if pattern.search(message)), {})
    response: Message = {"reject": {"stage": "unknown", **known, "message": message}}
    if type(error).__name__ in _PANIC_CLASSES or _PANIC_TEXT.search(message):
        response["panicked"] = True
    return response
