"""Graphs of vectors that stand alone, and a check of an index over vectors (face).

Has names of pylance's `lance.util`. The file of a graph is one of 0.1 with the rows of the graph in
one batch, and what an index says of a graph in the metadata of the schema.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from lanceref.core.errors import EditFailed
from lanceref.file.schema import schema_of
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.index.vector.graph import GRAPH_SCHEMA, graph_rows, graph_text
from lanceref.index.vector.vectors import ELEMENTS, vector_type, vectors_of
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import Graph, GraphParameters
from lanceref.storage import create_sink, whole

from pylanceref.reading import Reading

KEY = "lance:hnsw"
"""Metadata that says where searches start, and with what the graph was built."""


class HNSW:
    """A graph, and the vectors it is over."""

    def __init__(self, graph: Graph, vectors: pa.FixedSizeListArray, text: str) -> None:
        self._graph, self._vectors, self._text = graph, vectors, text

    @staticmethod
    def build(
        vectors_array: Iterable[pa.Array],
        max_level: int = 7,
        m: int = 20,
        ef_construction: int = 100,
    ) -> HNSW:
        """Build a graph of all vectors of some arrays, by l2.

        Raises ValueError for other arrays, EditFailed for none.
        """
        arrays = list(vectors_array)
        for one in arrays:
            found = vector_type(one.type)
            if found is None or found.multivector or found.element not in ELEMENTS:
                raise ValueError("Must be a FixedSizeList")
        if not arrays:
            raise EditFailed("Compute error: concat requires input of at least one array")
        vectors = pa.concat_arrays(arrays)
        parameters = GraphParameters(m, ef_construction, max_level)
        graph = build(vectors_of(vectors).values, "l2", parameters)
        return HNSW(graph, vectors, graph_text(len(vectors), parameters, None).text)

    def vectors(self) -> pa.Array:
        """Return the vectors."""
        return self._vectors

    def to_lance_file(self, file_path: str) -> None:
        """Write the graph to a file, without the vectors."""
        schema = GRAPH_SCHEMA.with_metadata({KEY: self._text})
        rows = graph_rows(self._graph).cast(schema)
        with whole(create_sink(file_path)) as sink:
            writer = LegacyWriter(sink, schema_of(schema), rows.num_rows)
            writer.write_batch(rows)
            writer.finish()


NEAR = 1e-6
"""Distance up to which a vector has found itself."""


def validate_vector_index(
    dataset: Reading,
    column: str,
    refine_factor: int = 5,
    sample_size: int | None = None,
    pass_threshold: float = 1.0,
) -> None:
    """Search for vectors of a table, and see that each finds itself; nulls and NaN are passed over.

    Raises ValueError when less than `pass_threshold` of all, or of a sample, do.
    """
    rows = dataset.to_table() if sample_size is None else dataset.sample(sample_size)
    asked = [
        vector
        for vector in rows[column].to_numpy(zero_copy_only=False)
        if vector is not None and not np.isnan(vector).any()
    ]
    query = {"column": column, "k": 1, "nprobes": 1, "refine_factor": refine_factor}
    passed = 0
    for vector in asked:
        found = dataset.to_table(nearest={**query, "q": vector})["_distance"]
        passed += len(found) > 0 and abs(found[0].as_py()) < NEAR
    if passed < pass_threshold * len(asked):
        raise ValueError(f"Vector index failed sanity check, only {passed}/{len(asked)} passed")
