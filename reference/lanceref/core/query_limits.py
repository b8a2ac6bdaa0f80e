"""What evaluating a query may cost, and the errors of the libraries that evaluate it.

A few letters of a query can ask for any number of bytes, as in `repeat('a', 1000000000000)`. What
functions add to the sizes of their arguments is therefore counted before it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import pyarrow as pa

from lanceref.core.errors import LanceError, QueryFailed, QueryRefused

GROWN_BYTES = 256 * 2**20
"""Bytes that the functions of a query may add to their arguments, for one batch of rows."""

ITEM_BYTES = 32
"""Bytes that a value of a list is counted for: it is a Python object while lists are made."""

LIBRARY_ERRORS = (
    pa.ArrowException,
    ArithmeticError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)
"""What the libraries raise for arguments that do not fit a function."""


class QueryTooLarge(QueryRefused):
    """A filter, expression or full-text query that would cost more than a limit allows."""

    kind = "limit"


_left: ContextVar[int] = ContextVar("left", default=GROWN_BYTES)


def charge(size: int) -> None:
    """Count bytes that a function is about to add. Raises QueryTooLarge when they are too many."""
    left = _left.get() - max(0, size)
    if left < 0:
        raise QueryTooLarge(
            f"the functions of a query may make {GROWN_BYTES} bytes for one batch of rows, and "
            f"{GROWN_BYTES - left} are asked for"
        )
    _left.set(left)


@contextmanager
def calling(refusal: type[QueryRefused | QueryFailed]) -> Iterator[None]:
    """Give a step of a query its own budget; an error of a library becomes a `refusal`.

    Raises QueryTooLarge.
    """
    token = _left.set(GROWN_BYTES)
    try:
        yield
    except LanceError:
        raise
    except RecursionError as error:
        raise QueryTooLarge("the query is nested too deep to be evaluated") from error
    except LIBRARY_ERRORS as error:
        raise refusal(f"Execution error: {error}") from error
    finally:
        _left.reset(token)
