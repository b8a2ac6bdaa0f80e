"""Index use: indices kept in memory, and how often that was of use (face).

Has the names of pylance's `LanceDataset`, and of the object below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from lanceref.errors import IndexNotFound, QueryRefused
from lanceref.index.kind import Warmable
from lanceref.index_request import INVERTED_DETAILS
from lanceref.opened import OpenTable
from lanceref.query.chosen_segments import parsed_ids


class IndexUse(OpenTable):
    """What of the indices of a dataset is in memory."""

    def prewarm_index(
        self,
        name: str,
        *,
        with_position: bool = False,
        index_segments: Iterable[str | UUID] | None = None,
    ) -> None:
        """Read an index, or some of its segments, into memory, where it stays.

        Raises IndexNotFound, TypeError and ValueError for ids that are none, QueryRefused for
        positions of an index that has no words.
        """
        chosen = None if index_segments is None else parsed_ids(index_segments)
        found = [one for one in self._snapshot.indices.known if one.name == name]
        if not found:
            raise IndexNotFound(f"Lance index not found: name={name}")
        (index,) = found
        segments = {UUID(one.uuid): one for one in index.segments}
        wanted = list(segments) if chosen is None else chosen
        missing = [f"{one}" for one in wanted if one not in segments]
        if missing:
            raise IndexNotFound(
                f"Lance index not found: name={name}, segment_ids=[{', '.join(missing)}]"
            )
        if with_position and index.kind.details != INVERTED_DETAILS:
            raise QueryRefused(
                "FTS prewarm options are only supported for inverted indices, got "
                f"{index.kind.shown}"
            )
        for own in wanted:
            segment = segments[own]
            opened = index.open(segment).index if segment.built else None
            if isinstance(opened, Warmable):
                segment.uses.kept += opened.warm(positions=with_position)

    def index_cache_entry_count(self) -> int:
        """Return how many parts of indices are in memory."""
        return self._snapshot.indices.uses.kept

    def index_cache_hit_rate(self) -> float:
        """Return the share of parts that questions found in memory."""
        return self._snapshot.indices.uses.hit_rate
