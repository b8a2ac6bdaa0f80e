"""Adapter of pylance, the oracle: `python -m lance_conformance.adapters.pylance`.

A panic of its native code surfaces in two forms: as an exception class of its own, which comes into
being with the first panic, and as an ordinary exception whose text mentions one.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileReader

from lance_conformance.adapters import face, searching, writing
from lance_conformance.adapters.skeleton import Adapter, Message, load_kinds, serve
from lance_conformance.adapters.twin import twin

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]

_ORDINARY = (OSError, ValueError, RuntimeError, LookupError, TypeError, pa.ArrowException)
_PLACES = [import_module(f"lance{name}") for name in ("", ".dataset", ".fragment", ".schema")]
_PANIC_CLASS = "PanicException"
_PANIC_TEXT = re.compile(r"panicked|JoinError::Panic|\bpanic\b", re.IGNORECASE)
_KINDS = load_kinds(Path(__file__).with_name("pylance.kinds.toml"))


def hello() -> Message:
    """Return what pylance claims."""
    return {
        "protocol": 1,
        "implementation": {
            "name": "pylance",
            "version": version("pylance"),
            "language": "python, rust",
            "homepage": "https://lancedb.github.io/lance/",
            "issues": "https://github.com/lance-format/lance/issues",
        },
        "capabilities": {
            **face.capabilities(VERSIONS, ["0.1", *VERSIONS], filters=True),
            **writing.capabilities(lance, VERSIONS, writing.VERBS),
            **searching.capabilities(),
        },
        "profiles": ["format", "robust", "unstable"],
    }


def refusals() -> tuple[type[BaseException], ...]:
    """Return the exceptions that are refusals, the panic class among them once it exists."""
    panics = [c for c in BaseException.__subclasses__() if c.__name__ == _PANIC_CLASS]
    return (*_ORDINARY, *panics)


def refuse(error: BaseException) -> Message:
    """Answer a refusal; stage and kind are read from the message."""
    message = str(error)
    known = next((meaning for pattern, meaning in _KINDS if pattern.search(message)), {})
    response: Message = {"reject": {"stage": "unknown", **known, "message": message}}
    if type(error).__name__ == _PANIC_CLASS or _PANIC_TEXT.search(message):
        response["panicked"] = True
    return response


def main() -> None:
    """Serve until the runner says good-bye."""
    operations = {
        **face.operations(LanceFileReader, lance.dataset),
        **writing.operations(lance, lambda operation: twin(_PLACES, operation)),
        **searching.operations(lance, import_module("lance.query")),
    }
    serve(Adapter(hello(), operations, refusals, refuse))


if __name__ == "__main__":
    main()
