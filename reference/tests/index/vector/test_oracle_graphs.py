"""IVF_HNSW indices of the oracle, and ours before the oracle."""

from __future__ import annotations

import json
import subprocess
import sys

import lance
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError
from lanceref.index.vector import building
from lanceref.index.vector.graph import GraphText, graph_text
from lanceref.kernels.hnsw_graph import GraphParameters, node_levels
from pylanceref.file import LanceFileReader

from .indexed import fixed, near, opened, points, table

pytestmark = pytest.mark.oracle

ROWS = 2000
CASES = [
    ("FLAT", "l2", "f4"),
    ("FLAT", "cosine", "f4"),
    ("FLAT", "dot", "f4"),
    ("FLAT", "l2", "f2"),
    ("FLAT", "cosine", "f2"),
    ("FLAT", "dot", "f8"),
    ("FLAT", "cosine", "f8"),
    ("FLAT", "hamming", "u1"),
    ("SQ", "l2", "f4"),
    ("SQ", "cosine", "f2"),
    ("SQ", "dot", "f8"),
    ("PQ", "l2", "f4"),
    ("PQ", "cosine", "f2"),
    ("PQ", "dot", "f8"),
]


def answers(folder, query, **asked):
    """Return what both find, the oracle first."""
    return [near(who.dataset(folder), query, **asked) for who in (lance, pylanceref)]


def check_answers(folder, queries, **asked) -> None:
    """Assert that both find the same rows at the same distances, rows as far aside."""
    hits = 0
    for query in queries:
        (theirs, far), (ours, own) = answers(folder, query, **asked)
        np.testing.assert_allclose(own, far, rtol=1e-4, atol=1e-4)
        hits += len(set(theirs) & set(ours)) if len(set(far)) == len(far) else len(theirs)
    assert hits >= 0.99 * sum(asked["k"] for _ in queries)


@pytest.mark.parametrize("writer", [lance, pylanceref], ids=["lance", "lanceref"])
@pytest.mark.parametrize(("storage", "metric", "dtype"), CASES)
def test_both_find_the_same(tmp_path, writer, storage, metric, dtype):
    """By either's graphs, for each metric and type of number, as deep as asked.

    By hamming many rows are as far as others; which of these a short search keeps is chance.
    """
    values = points(ROWS, dtype)
    dataset = writer.write_dataset(table(values), tmp_path / "t")
    arguments = {"num_sub_vectors": 4} if storage == "PQ" else {}
    kind = f"IVF_HNSW_{storage}"
    dataset.create_index("v", kind, metric=metric, num_partitions=2, m=8, **arguments)
    queries = values[:: ROWS // 12]
    deep = {"ef": ROWS} if metric == "hamming" else {}
    check_answers(str(tmp_path / "t"), queries, k=10, nprobes=2, **deep)
    check_answers(str(tmp_path / "t"), queries[:4], k=10, nprobes=2, **{"ef": 100, **deep})
    check_answers(str(tmp_path / "t"), queries[:4], k=5, nprobes=1, refine_factor=3, **deep)


@pytest.mark.parametrize("share", [2, 5, 30])
def test_filters_pass_the_same_rows(tmp_path, share):
    """One row in so many, by a walk or one by one."""
    values = points(ROWS)
    dataset = lance.write_dataset(table(values), tmp_path / "t")
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=1)
    scan = {"filter": f"i % {share} = 0", "prefilter": True}
    for query in values[::250]:
        found = [
            near(who.dataset(str(tmp_path / "t")), query, scan, k=8) for who in (lance, pylanceref)
        ]
        assert found[0][0] == found[1][0]


@pytest.mark.parametrize(("m", "max_level"), [(4, 3), (20, 7), (9, 1)])
def test_levels_and_texts_are_those_of_the_oracle(tmp_path, m, max_level):
    """They follow from the number of nodes."""
    dataset = lance.write_dataset(table(points(ROWS)), tmp_path / "t")
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=2, m=m, max_level=max_level)
    (path,) = (tmp_path / "t" / "_indices").glob("*/index.idx")
    reader = LanceFileReader(str(path))
    nodes, start = reader.read_all().to_table()["__vector_id"].to_numpy(), 0
    parameters = GraphParameters(m, 150, max_level)
    for text in json.loads(reader.metadata().schema.metadata[b"lance:hnsw"]):
        said = json.loads(text)
        count, rows = said["level_offsets"][1], said["level_offsets"][-1]
        levels = node_levels(count, m, max_level)
        wanted = [np.flatnonzero(levels >= level) for level in range(max_level)]
        assert graph_text(count, parameters, 2).text == text
        assert np.concatenate(wanted).tolist() == nodes[start : start + rows].tolist()
        start += rows


def test_statistics_are_those_of_the_oracle(tmp_path):
    """What is said of the graph among them."""
    dataset = lance.write_dataset(table(points(ROWS)), tmp_path / "t")
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=2, m=5)
    (wanted,) = dataset.stats.index_stats("v_idx")["indices"]
    (found,) = pylanceref.dataset(tmp_path / "t").stats.index_stats("v_idx")["indices"]
    assert wanted["sub_index"] == found["sub_index"]


def test_both_say_the_same_of_parameters(tmp_path):
    """Descriptions name them, and what cannot be is refused with an error of the same class."""
    dataset = lance.write_dataset(table(points(300)), tmp_path / "t")
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=1, m=6, ef_construction=30)
    ours = pylanceref.dataset(tmp_path / "t")
    wanted, found = dataset.describe_indices()[0], ours.describe_indices()[0]
    assert wanted.index_type == found.index_type
    assert wanted.details["hnsw"] == found.details["hnsw"]
    for arguments in ({"m": 3}, {"ef_construction": 5}, {"max_level": 0}, {"m": -1}, {"m": "x"}):
        raised = []
        for one in (dataset, ours):
            with pytest.raises((ValueError, OverflowError, TypeError)) as error:
                one.create_index("v", "IVF_HNSW_FLAT", name="n", num_partitions=1, **arguments)
            raised.append(error.type)
        assert issubclass(raised[1], raised[0])


def test_recall_is_that_of_the_oracle(tmp_path):
    """Our graphs over the same partitions find as many of the true neighbours."""
    random = np.random.default_rng(8)
    values = random.normal(size=(4000, 24)).astype("f4")
    queries = random.normal(size=(240, 24)).astype("f4")
    hits = {}
    for who in (lance, pylanceref):
        dataset = who.write_dataset(table(values), tmp_path / who.__name__)
        dataset.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=values[:2], m=12)
        hits[who] = 0
        for query in queries:
            true = np.argsort(((values - query) ** 2).sum(1))[:10].tolist()
            hits[who] += len(set(true) & set(near(dataset, query, k=10, nprobes=2)[0]))
    assert hits[pylanceref] >= hits[lance] - 0.02 * 240 * 10


def test_what_is_appended_and_moved_is_found(tmp_path):
    """Both bring the other's graphs up to date, and both answer from what the other wrote."""
    values = points(ROWS)
    for first, then in ((lance, pylanceref), (pylanceref, lance)):
        folder = str(tmp_path / first.__name__)
        dataset = first.write_dataset(table(values), folder, max_rows_per_file=600)
        dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=2, m=7, ef_construction=40)
        other = then.dataset(folder)
        other.insert(table(points(300, seed=5)))
        other.optimize.optimize_indices()
        other.delete("i % 3 = 1")
        other.optimize.compact_files()
        if then is pylanceref:
            text = opened(pylanceref.dataset(folder)).graph_text
            assert (7, 40) == (text.parameters.m, text.parameters.ef_construction)
        check_answers(folder, values[::300], k=10, nprobes=2)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
@pytest.mark.parametrize("writer", [lance, pylanceref], ids=["lance", "lanceref"])
def test_graphs_of_every_version_are_read(tmp_path, writer, version):
    """Partitions without rows and rows with ids of their own among them."""
    values = points(ROWS // 2)
    dataset = writer.write_dataset(
        table(values),
        str(tmp_path / "t"),
        data_storage_version=version,
        enable_stable_row_ids=version != "2.0",
    )
    centroids = np.concatenate((values[:1], np.full((1, 8), 1e4, "f4"), values[1:2]))
    dataset.create_index("v", "IVF_HNSW_SQ", ivf_centroids=centroids)
    dataset.delete("i % 5 = 0")
    check_answers(str(tmp_path / "t"), values[::100], k=10, nprobes=3)


@pytest.mark.parametrize("writer", [lance, pylanceref], ids=["lance", "lanceref"])
def test_graphs_over_several_vectors_of_a_row_are_read(tmp_path, writer):
    """A row is found once."""
    values = points(900)
    lists = pa.ListArray.from_arrays(pa.array(range(0, 901, 3), pa.int32()), fixed(values))
    dataset = writer.write_dataset(pa.table({"i": range(300), "v": lists}), str(tmp_path / "t"))
    dataset.create_index("v", "IVF_HNSW_FLAT", metric="cosine", num_partitions=1)
    check_answers(str(tmp_path / "t"), values[::90], k=10)


@pytest.mark.parametrize("merger", [lance, pylanceref], ids=["lance", "lanceref"])
@pytest.mark.parametrize("writer", [lance, pylanceref], ids=["lance", "lanceref"])
def test_segments_of_fragments_are_merged(tmp_path, writer, merger):
    """Whoever wrote them: their graphs are built anew over all rows."""
    values = points(ROWS // 2)
    dataset = writer.write_dataset(table(values), str(tmp_path / "t"), max_rows_per_file=400)
    shards = [
        dataset.create_index_uncommitted(
            "v",
            "IVF_HNSW_FLAT",
            name="x",
            num_partitions=2,
            fragment_ids=[fragment.fragment_id],
            ivf_centroids=values[:2],
        )
        for fragment in dataset.get_fragments()
    ]
    other = merger.dataset(str(tmp_path / "t"))
    other.commit_existing_index_segments("x", "v", [other.merge_existing_index_segments(shards)])
    check_answers(str(tmp_path / "t"), values[::100], k=10, nprobes=2)


ASK = """
import sys, lance
found = lance.dataset(sys.argv[1]).to_table(nearest={"column": "v", "q": [0.0] * 8, "k": 5})
print("rows", found.num_rows)
"""


@pytest.mark.parametrize("offsets", [[0, 500, 400, 500], [0, 500, 900, 900]])
def test_where_the_oracle_finds_nothing(tmp_path, monkeypatch, offsets):
    """Levels that descend or end after the rows: it has no rows and no error, we refuse.

    D.index.vector-level-offsets
    """
    dataset = pylanceref.write_dataset(table(points(500)), str(tmp_path / "t"))
    said = GraphText(0, tuple(offsets), GraphParameters(4, 20, 3))
    true = building.graph_texts
    monkeypatch.setattr(building, "graph_texts", lambda *own: ([said.text], true(*own)[1]))
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=1)

    with pytest.raises(FormatError) as error:
        near(pylanceref.dataset(str(tmp_path / "t")), [0.0] * 8, k=5)
    assert error.value.clause == "L.index.vector.graph.levels"

    command = [sys.executable, "-c", ASK, str(tmp_path / "t")]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert asked.stdout == "rows 0\n"
