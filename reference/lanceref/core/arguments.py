"""Arguments: what callers pass, held to what pylance takes."""

from __future__ import annotations

from operator import index
from types import TracebackType

from lanceref.core.errors import CallerFailed, LanceError


def unsigned(value: int) -> int:
    """Return a number that 64 bits hold. Raises TypeError and OverflowError."""
    number = index(value)
    if not 0 <= number < 2**64:
        raise OverflowError(f"{number} is no unsigned 64-bit integer")
    return number


class OfTheCaller:
    """Runs code of the caller: what it raises comes out as CallerFailed, with its words.

    Errors of our own, and what ends a process, come out as they are.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None or issubclass(kind, LanceError) or not issubclass(kind, Exception):
            return
        if error is not None:
            raise CallerFailed(f"{kind.__name__}: {error}") from error
