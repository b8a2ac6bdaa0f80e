"""Index use: indices kept in memory, how often that was of use, what they learnt (face).

Has the names of pylance's `LanceDataset`, and of the object below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa
from lanceref.core.errors import NotFound, QueryRefused
from lanceref.index.index_type import Warmable
from lanceref.search.vector_search import parsed_ids

from pylanceref.errors import IndexNotFound
from pylanceref.index_request import INVERTED_DETAILS, VECTOR_DETAILS
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    from pylanceref.vector_models import IvfModel


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
            asked = segment.built and not index.is_early(segment)
            opened = index.open(segment).index if asked else None
            if isinstance(opened, Warmable):
                segment.uses.kept += opened.warm(positions=with_position)

    def get_ivf_model(self, index_name: str) -> IvfModel:
        """Return the centroids of an index over vectors. Raises NotFound where there is none."""
        from lanceref.index.vector.vector_index import VectorIndex

        from pylanceref.vector_models import IvfModel

        for index in self._snapshot.indices.known:
            for segment in index.segments if index.name == index_name else ():
                opened = index.open(segment).index if segment.built else None
                if isinstance(opened, VectorIndex):
                    model = opened.head.model
                    flat = pa.array(model.centroids.reshape(-1))
                    centroids = pa.FixedSizeListArray.from_arrays(flat, model.dimension)
                    return IvfModel(centroids, model.metric)
        raise NotFound(f'Index "{index_name}" not found among the trained ones over vectors')

    def centroids(
        self, *, index_name: str | None = None, column: str | None = None
    ) -> pa.FixedSizeListArray:
        """Return the centroids of an index, or of the first one over a column of vectors.

        Raises ValueError without either, NotFound, KeyError for a column without such an index.
        """
        if index_name is None:
            if column is None:
                raise ValueError("Must provide 'index_name' or 'column'.")
            index_name = self._trained_over(column)
        return self.get_ivf_model(index_name).centroids

    def _trained_over(self, column: str) -> str:
        """Return the name of the first trained index over a column of vectors. Raises KeyError."""
        fields = self._snapshot.manifest.schema.fields
        ids = [one.id for one in fields if one.name.lower() == column.lower()]
        for index in self._snapshot.indices.known:
            of_vectors = index.kind.details == VECTOR_DETAILS
            built = [one.entry.fields[0] for one in index.segments if of_vectors and one.built]
            if set(built) & set(ids):
                return index.name
        raise KeyError(f"No IVF index for column '{column}'")

    def index_cache_entry_count(self) -> int:
        """Return how many parts of indices are in memory."""
        return self._snapshot.indices.uses.kept

    def index_cache_hit_rate(self) -> float:
        """Return the share of parts that questions found in memory."""
        return self._snapshot.indices.uses.hit_rate
