"""Guarded calls: expected errors and panics of the oracle become results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lanceref.core.errors import LanceError

RAISED = (LanceError, OSError, ValueError, RuntimeError, LookupError, TypeError, ArithmeticError)
"""Errors that count as results."""

REFUSALS = (OSError, ValueError, NotImplementedError)
"""Errors by which pylance, and modules with its names, refuse a request."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The value of a call, or the text of its error."""

    error: str = ""
    value: object = None


def guarded(call: Callable[[], object], raised: tuple[type[Exception], ...] = RAISED) -> CallResult:
    """Call and return the value, or the error if it is one of `raised` or a panic."""
    try:
        return CallResult(value=call())
    except raised as error:
        return CallResult(f"{type(error).__name__}: {str(error)[:300]}")
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the oracle's own class cannot be imported
            raise
        return CallResult(f"panic: {str(error)[:300]}")
