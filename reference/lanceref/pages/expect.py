"""Expectations: one number of a description held against another."""

from __future__ import annotations

from lanceref.core.errors import CorruptPage, Place


def expect(clause: str, found: int, wanted: int, place: Place) -> None:
    """Refuse unless `found` is `wanted`."""
    if found != wanted:
        raise CorruptPage(clause, place, found=found, wanted=wanted)
