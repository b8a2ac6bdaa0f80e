"""Refusals of Lance's own core, in whatever package it comes: exceptions, panics and their meaning.

A panic of native code surfaces in two forms: as an exception class of its own, which comes into
being with the first panic (one for calls, another where the call awaits), and as an ordinary
exception whose text mentions one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from lance_conformance.adapters.skeleton import Message, load_kinds

ORDINARY = (OSError, ValueError, RuntimeError, LookupError, TypeError, pa.ArrowException)
"""Exceptions by which bindings for Python refuse."""

_PANICS = {"PanicException", "RustPanic"}
"""Names of the classes of panics."""

_PANIC_TEXT = re.compile(r"panicked|JoinError::Panic|\bpanic\b", re.IGNORECASE)
_KINDS = load_kinds(Path(__file__).with_name("pylance.kinds.toml"))


def refusals() -> tuple[type[BaseException], ...]:
    """Return the exceptions that are refusals, the panic class among them once it exists."""
    classes = (*BaseException.__subclasses__(), *Exception.__subclasses__())
    return (*ORDINARY, *(one for one in classes if one.__name__ in _PANICS))


def refuse(error: BaseException) -> Message:
    """Answer a refusal; stage and kind are read from the message."""
    message = str(error)
    known = next((meaning for pattern, meaning in _KINDS if pattern.search(message)), {})
    response: Message = {"reject": {"stage": "unknown", **known, "message": message}}
    if type(error).__name__ in _PANICS or _PANIC_TEXT.search(message):
        response["panicked"] = True
    return response
