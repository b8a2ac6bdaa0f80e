"""Arguments: what callers pass, held to what pylance takes."""

from __future__ import annotations

from operator import index


def unsigned(value: int) -> int:
    """Return a number that 64 bits hold. Raises TypeError and OverflowError."""
    number = index(value)
    if not 0 <= number < 2**64:
        raise OverflowError(f"{number} is no unsigned 64-bit integer")
    return number
