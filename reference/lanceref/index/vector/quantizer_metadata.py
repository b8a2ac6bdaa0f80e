"""Quantizer metadata: numbers and flags in what a file says of how vectors are stored."""

from __future__ import annotations

from collections.abc import Mapping

from lanceref.core.errors import FormatError, Place


def number(given: Mapping[str, object], key: str, clause: str, place: Place) -> int:
    """Return a number that is not negative. Raises FormatError of a clause when there is none."""
    found = given.get(key)
    if type(found) is not int or found < 0:
        raise FormatError(clause, place, found=f"{key} {str(found)[:40]}", wanted="a whole number")
    return found


def flag(given: Mapping[str, object], key: str, clause: str, place: Place) -> bool:
    """Return a truth value. Raises FormatError of a clause when there is none."""
    found = given.get(key)
    if type(found) is not bool:
        raise FormatError(clause, place, found=f"{key} {str(found)[:40]}", wanted="true or false")
    return found
