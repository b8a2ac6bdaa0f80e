"""Full-text scanner: the rows that a full-text query finds, the best first (face).

Rows have a score, `_score`, and where elements of lists are documents the place of the element,
`_doc_index`. A filter is asked of the rows that were found, unless it is to be asked before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from lanceref.search.filter import Filter
from lanceref.search.snapshot import Snapshot
from lanceref.search.text_matching import Hits
from lanceref.search.text_parts import ELEMENT_BITS, Places
from lanceref.search.text_search import ELEMENT, SCORE, TextSearch
from lanceref.table.rows import FragmentRows
from numpy.typing import NDArray

from pylanceref.scanner import ScanOptions
from pylanceref.search_scanner import FoundRows, SearchScanner, Shown


class FullTextScanner(SearchScanner):
    """A search for words that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        result: Shown,
        options: ScanOptions,
        search: TextSearch,
        after: Filter | None,
    ) -> None:
        super().__init__(snapshot, fragments, result, options, after)
        self._search = search

    def found(self, limit: int | None, offset: int) -> FoundRows:
        """Return the documents by falling score, or in the order asked for."""
        end = None if limit is None else offset + limit
        hits = self._search.hits(self._allowed(), end)
        order = np.lexsort((hits.places, -hits.scores))
        rows = self.passing(_rows(_part(hits, order[:end])))
        return self.reordered(rows.part(offset, end))

    def _allowed(self) -> Places | None:
        """Return the rows of the fragments that pass the filter before, None for all."""
        wanted = self._options.condition
        if wanted is None and len(self._fragments) == len(self._snapshot.fragments):
            return None
        positions = [np.empty(0, np.int64)]
        for rows in self._fragments:
            own = np.arange(rows.num_rows) if wanted is None else wanted.positions(rows)
            positions.append(own + rows.rows_before)
        return np.concatenate(positions)

    def explain_plan(self, verbose: bool = False) -> str:
        """Return what is done to run the search, one step a line, the last one first."""
        options = self._options
        steps = self._search.explained
        if options.condition is not None:
            steps += options.condition.explained(self._fragments)
        fetch = "" if options.limit is None else f" fetch={options.limit},"
        steps.insert(0, f"Sort:{fetch} [_score DESC]")
        if self._after is not None:
            steps.insert(0, f"Filter: columns=[{', '.join(self._after.paths)}]")
        steps.insert(0, f"Projection: [{', '.join(self.projected_schema.names)}]")
        return "\n".join(f"{'  ' * depth}{step}" for depth, step in enumerate(steps)) + "\n"


def _part(hits: Hits, chosen: slice | NDArray[np.generic]) -> Hits:
    return Hits(hits.places[chosen], hits.scores[chosen])


def _rows(hits: Hits) -> FoundRows:
    """Return documents as rows, with what a search knows of them."""
    elements = (hits.places & (1 << ELEMENT_BITS) - 1).astype(np.uint32)
    offsets = pa.array(np.arange(len(elements) + 1, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, pa.array(elements)).cast(ELEMENT.type)
    columns = {ELEMENT.name: lists, SCORE.name: pa.array(hits.scores)}
    return FoundRows(hits.places >> ELEMENT_BITS, columns)
