"""Graphs of partitions."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.vector.graph import (
    DISTANCES,
    GRAPH_SCHEMA,
    NEIGHBOURS,
    graph_rows,
    graph_text,
    level_offsets,
    parse_graph_text,
    read_graph,
)
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.storage import LocalStore

IDS = [0, 1, 2, 1]
NEAR = [[1], [0, 2], [1], []]
FAR = [[1.0], [1.0, 4.0], [4.0], []]
"""Three nodes in a row, the middle one on level 1 too."""

PLACE = Context("index.idx").at(0, 0)


def text(**changes) -> str:
    """Return the text of the graph."""
    params = {"max_level": 2, "m": 4, "ef_construction": 10, "prefetch_distance": None}
    return json.dumps(
        {"entry_point": 1, "params": params, "level_offsets": [0, 3, 4], **changes},
        separators=(",", ":"),
    )


def rows(ids=IDS, near=NEAR, far=FAR) -> pa.RecordBatch:
    """Return rows of a graph."""
    arrays = [
        pa.array(ids, pa.uint32()),
        pa.array(near, NEIGHBOURS.type),
        pa.array(far, DISTANCES.type),
    ]
    return pa.record_batch(arrays, schema=GRAPH_SCHEMA)


def file_of(folder, *batches, findings=None) -> IndexFile:
    """Write rows as a file and open it."""
    store = LocalStore(folder)
    write_index_file(store, "index.idx", GRAPH_SCHEMA, V2_1, batches, {}, [])
    return IndexFile(store.open("index.idx"), Context("index.idx", findings=findings))


def test_a_graph_by_hand(tmp_path):
    """Levels have their nodes and edges; other rows of the file are left alone."""
    file = file_of(tmp_path, rows(), rows())
    graph = read_graph(file, text(), 4, 8, 3, distances=True)
    assert 1 == graph.entry_point
    assert [[0, 1, 2], [1]] == [level.nodes.tolist() for level in graph.levels]
    assert [[1], [0, 2], [1]] == [graph.levels[0].neighbours_of(node).tolist() for node in range(3)]
    assert [1.0, 1.0, 4.0, 4.0] == graph.levels[0].distances.tolist()
    assert 0 == len(graph.levels[1].neighbours)
    assert not read_graph(file, text(), 0, 4, 3).levels[0].distances.any()


def test_texts_are_those_of_real_files():
    """Of 735 nodes 30 are on level 1, and one on level 2."""
    wanted = (
        '{"entry_point":364,"params":{"max_level":7,"m":20,"ef_construction":150,'
        '"prefetch_distance":2},"level_offsets":[0,735,765,766,766,766,766,766]}'
    )
    assert wanted == graph_text(735, USUAL, 2).text
    assert graph_text(735, USUAL, 2) == parse_graph_text(wanted, PLACE)
    assert parse_graph_text("", PLACE) is None


@given(st.integers(1, 120), st.integers(4, 9), st.integers(1, 5))
def test_what_is_written_is_read(tmp_path_factory, num_nodes, m, max_level):
    """A graph comes back as it was, and its text says how many rows it has."""
    random = np.random.default_rng(num_nodes)
    parameters = GraphParameters(m, 20, max_level)
    graph = build(random.normal(size=(num_nodes, 3)), "l2", parameters)
    said, batch = graph_text(num_nodes, parameters, None), graph_rows(graph)
    file = file_of(tmp_path_factory.mktemp("g"), batch)
    found = read_graph(file, said.text, 0, said.offsets[-1], num_nodes, distances=True)
    assert batch.num_rows == said.offsets[-1]
    assert graph.entry_point == found.entry_point
    for level, own in zip(graph.levels, found.levels, strict=True):
        for name in ("nodes", "offsets", "neighbours", "distances"):
            assert getattr(level, name).tolist() == getattr(own, name).tolist()


def test_parameters_are_made_usable():
    """What no graph can be built with is no reason not to search, nor to fail when rows move."""
    said = parse_graph_text(text(params={"max_level": 0, "m": 0, "ef_construction": 0}), PLACE)
    assert GraphParameters(4, 4, 1) == said.usable
    wide = GraphParameters(2**63 - 1, 2**63 - 1, 2**16 - 1)
    assert 9 == build(np.eye(9), "l2", wide).num_nodes
    assert 2**16 == len(graph_text(9, wide, None).offsets)


def test_no_rows_no_graph(tmp_path):
    """A partition without rows has an empty text."""
    assert 0 == read_graph(file_of(tmp_path, rows()), "", 4, 4, 0).num_nodes


@pytest.mark.parametrize(
    ("said", "clause"),
    [
        ("", "rows"),
        ("{", None),
        ("[]", None),
        (text(entry_point=3), "entry"),
        (text(entry_point=2**70), "entry"),
        (text(entry_point=-1), "text"),
        (text(entry_point=True), "text"),
        (text(entry_point=None), "text"),
        (text(params=[]), "text"),
        (text(params={"max_level": 2, "m": "4", "ef_construction": 10}), "text"),
        (text(params={"max_level": 2**16, "m": 4, "ef_construction": 10}), "text"),
        (text(params={"max_level": 2, "m": 2**63, "ef_construction": 10}), "text"),
        (text(level_offsets=None), "text"),
        (text(level_offsets=[0, 3.0, 4]), "text"),
        (text(level_offsets=[]), "levels"),
        (text(level_offsets=[0]), "levels"),
        (text(level_offsets=[0, 3]), "levels"),
        (text(level_offsets=[1, 3, 4]), "levels"),
        (text(level_offsets=[0, 3, 2, 4]), "levels"),
        (text(level_offsets=[0, 3, 5]), "levels"),
        (text(level_offsets=[0, 3, 2**70]), "levels"),
        (text(level_offsets=[0, 4]), "rows"),
        (text(level_offsets=[0, 2, 4]), "rows"),
    ],
)
def test_texts_that_are_not_sound(tmp_path, said, clause):
    """Each is refused under its clause, none answered with nothing."""
    with pytest.raises(FormatError) as error:
        read_graph(file_of(tmp_path, rows()), said, 0, 4, 3)
    wanted = "metadata" if clause is None else f"graph.{clause}"
    assert f"L.index.vector.{wanted}" == error.value.clause


@pytest.mark.parametrize(
    ("changes", "clause"),
    [
        ({"ids": [0, 2, 1, 1]}, "nodes"),
        ({"ids": [0, 1, 1, 1]}, "nodes"),
        ({"ids": [1, 2, 3, 1]}, "nodes"),
        ({"ids": [0, 1, 2, 3]}, "nodes"),
        ({"ids": [0, 1, 2, 2**32 - 1]}, "nodes"),
        ({"ids": [0, 1, None, 1]}, "null"),
        ({"near": [[1], None, [1], []]}, "null"),
        ({"near": [[1], [0, None], [1], []]}, "null"),
        ({"near": [[1], [0, 3], [1], []]}, "neighbours"),
        ({"near": [[1], [0, 2**32 - 1], [1], []]}, "neighbours"),
        ({"far": [[1.0], [1.0], [4.0], []]}, "distances"),
        ({"far": [[1.0], [1.0, 2.0], [4.0], None]}, "null"),
    ],
)
def test_rows_that_are_not_sound(tmp_path, changes, clause):
    """Each is refused under its clause."""
    with pytest.raises(FormatError) as error:
        read_graph(file_of(tmp_path, rows(**changes)), text(), 0, 4, 3, distances=True)
    assert f"L.index.vector.graph.{clause}" == error.value.clause


def test_searches_start_on_the_highest_level(tmp_path):
    """Another entry point is a finding, and the graph is read all the same."""
    findings = []
    graph = read_graph(file_of(tmp_path, rows(), findings=findings), text(entry_point=0), 0, 4, 3)
    assert 0 == graph.entry_point
    assert ["L.index.vector.graph.entry"] == [one.clause for one in findings]


@given(st.text(max_size=30) | st.binary(max_size=30).map(lambda b: text(level_offsets=list(b))))
def test_any_text_is_a_graph_or_refused(tmp_path_factory, said):
    """Nothing but errors of ours comes out."""
    file = file_of(tmp_path_factory.mktemp("g"), rows())
    with suppress(LanceError):
        assert 3 == read_graph(file, said, 0, 4, 3).num_nodes


@pytest.mark.parametrize(
    ("said", "rows", "levels"),
    [
        ([0, 10, 13, 13], 13, [0, 10, 13, 13]),
        ([0, 10, 13, 13], 15, [0, 10, 14, 15]),
        ([0, 10, 13, 13], 14, [0, 10, 13, 13]),
        ([0, 10], 10, [0, 10]),
        ([], 3, []),
    ],
)
def test_rows_that_early_levels_do_not_count(said, rows, levels):
    """One on each level but the lowest, and only where exactly so many rows are left."""
    assert levels == list(level_offsets(said, rows))
