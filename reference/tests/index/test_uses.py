"""Uses of indices: what questions found in memory, and what had to be read."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.segment import Uses


def test_parts_are_counted():
    """A part is read once and stays; one that is there is a hit; the rate is of all that asked."""
    uses = Uses()
    assert uses.hit_rate == 0
    uses.load(3)
    uses.hit()
    uses.comparisons += 10
    assert (uses.loaded, uses.hits, uses.kept, uses.comparisons) == (3, 1, 3, 10)
    assert uses.hit_rate == 0.25


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Numbers in three pages, words, five colours; two fragments."""
    rows = range(10_000)
    data = pa.table(
        {
            "id": rows,
            "colour": [f"c{row % 5}" for row in rows],
            "labels": [[f"a{row % 3}"] for row in rows],
            "text": [f"word{row % 7} foo bar" for row in rows],
        }
    )
    uri = tmp_path_factory.mktemp("uses") / "t"
    made = pylanceref.write_dataset(data, uri, max_rows_per_file=5000)
    made.create_scalar_index("id", "BTREE")
    made.create_scalar_index("colour", "BITMAP")
    made.create_scalar_index("labels", "LABEL_LIST")
    made.create_scalar_index("text", "INVERTED", with_position=True)
    return str(uri)


def told(table, **query):
    """Return segments opened, parts read, and parts found, of a scan."""
    found = []
    table.scanner(scan_stats_callback=found.append, **query).to_table()
    (one,) = found
    assert one.parts_loaded == one.index_cache_misses
    return one.indices_loaded, one.parts_loaded, one.index_cache_hits


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ({"filter": "id = 42"}, 1),
        ({"filter": "id > 8000"}, 2),
        ({"filter": "colour IN ('c1', 'c2')"}, 2),
        ({"filter": "colour = 'none'"}, 0),
        ({"filter": "array_has_any(labels, ['a1'])"}, 1),
        ({"full_text_query": "word1"}, 1),
        ({"full_text_query": "absent"}, 0),
    ],
)
def test_a_question_reads_parts_once(table, query, parts):
    """The first scan reads them, the second none, of both fragments at once."""
    opened = pylanceref.dataset(table)
    described = "full_text_query" in query  # what a scan is described by is opened before
    assert (not described, parts, 0) == told(opened, **query)
    assert (0, 0) == told(opened, **query)[:2]


def test_positions_are_parts_of_their_own(table):
    """A phrase reads postings and positions of both words, and finds them the next time."""
    opened = pylanceref.dataset(table)
    phrase = {"full_text_query": '"foo bar"'}
    assert 4 == told(opened, **phrase)[1]
    assert 0 == told(opened, **phrase)[1]


def test_without_an_index_nothing_is_counted(table):
    """A plain scan opens none."""
    assert (0, 0, 0) == told(pylanceref.dataset(table))
