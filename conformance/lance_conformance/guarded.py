"""Guarded calls: an error that is an answer becomes one, and so does a panic of the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lanceref.core.errors import LanceError

RAISED = (LanceError, OSError, ValueError, RuntimeError, LookupError, TypeError, ArithmeticError)
"""Errors that are answers."""

REFUSALS = (OSError, ValueError, NotImplementedError)
"""What pylance, and what has its names, raises for what it refuses."""


@dataclass(frozen=True, slots=True)
class Told:
    """A value, or the text of an error."""

    error: str = ""
    value: object = None


def guarded(call: Callable[[], object], raised: tuple[type[Exception], ...] = RAISED) -> Told:
    """Call, and return what came of it; any other error than those `raised` goes on."""
    try:
        return Told(value=call())
    except raised as error:
        return Told(f"{type(error).__name__}: {str(error)[:300]}")
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the oracle's own class cannot be imported
            raise
        return Told(f"panic: {str(error)[:300]}")
