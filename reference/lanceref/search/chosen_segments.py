"""Chosen segments: those of an index over vectors that a search is to ask, by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from lanceref.core.errors import QueryRefused
from lanceref.index.indices import Index
from lanceref.search.snapshot import Snapshot


def parsed_ids(given: object) -> frozenset[UUID]:
    """Return ids as a caller gives them. Raises TypeError, ValueError."""
    if isinstance(given, str | UUID) or not isinstance(given, Iterable):
        raise TypeError(
            f"index_segments must be an iterable of str or uuid.UUID, not a single {type(given)}."
        )
    found = set()
    for one in given:
        if not isinstance(one, str | UUID):
            raise TypeError(
                f"index_segments must be an iterable of str or uuid.UUID. Got {type(one)} instead."
            )
        try:
            found.add(UUID(f"{one}"))
        except ValueError as error:
            raise ValueError(f"invalid index segment uuid {one!r}: {error}") from error
    return frozenset(found)


def segment_ids(given: object) -> frozenset[UUID]:
    """Return the ids of a search. Raises TypeError, ValueError, QueryRefused for none."""
    found = parsed_ids(given)
    if not found:
        raise QueryRefused(
            "Invalid user input: with_index_segments does not accept an empty segment list"
        )
    return found


def check_segments(
    snapshot: Snapshot, chosen: frozenset[UUID], index: Index | None, column: str
) -> None:
    """Raise QueryRefused for an id of no segment, and for one of another index."""
    known = {UUID(bytes=entry.uuid.uuid) for entry in snapshot.manifest.indices}
    unknown = sorted(f"{one}" for one in chosen - known)
    if unknown:
        listed = ", ".join(f'"{one}"' for one in unknown)
        raise QueryRefused(
            f"Invalid user input: with_index_segments referenced unknown index segments: [{listed}]"
        )
    own = {UUID(one.uuid) for one in index.segments} if index is not None else set()
    if not chosen <= own:
        raise QueryRefused(
            "Invalid user input: with_index_segments contained a segment that does not belong to "
            f"vector column '{column}'"
        )
