"""Tests of asking an index: filters, full-text queries of every kind, the plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pylanceref
import pylanceref.query
import pytest
from lance_conformance.adapters.searching import capabilities, operations
from lance_conformance.adapters.skeleton import Message
from lance_conformance.output import read_output
from lance_conformance.protocol import check_request, check_response

TABLE = pa.table({"n": [3, 1, 3], "t": ["a fox", "dog", "fox fox"]})

Ask = Callable[..., tuple[Message, pa.Table]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Asks the indices of three rows."""
    uri, out = str(tmp_path / "table.lance"), str(tmp_path / "out.arrow")
    made = pylanceref.write_dataset(TABLE, uri)
    made.create_scalar_index("n", "BTREE")
    pylanceref.dataset(uri).create_scalar_index("t", "INVERTED")
    search = operations(pylanceref, pylanceref.query)["index.search"]

    def asked(**fields: object) -> tuple[Message, pa.Table]:
        request = {"id": 1, "op": "index.search", "uri": uri, "out": out, **fields}
        assert not check_request(request)
        body = search(request)
        assert not check_response("index.search", {"id": 1, "ok": body})
        return body, read_output(Path(out))

    return asked


def test_a_filter_asks_the_index(ask: Ask) -> None:
    """The rows are found, and the answer says that an index was asked."""
    body, found = ask(filter={"sql": "n = 3"}, columns=["t"])

    assert {"t": ["a fox", "fox fox"]} == found.to_pydict()
    assert body["used"] is True


def test_past_the_index(ask: Ask) -> None:
    """The same rows, and the answer says that none was asked."""
    body, found = ask(filter={"sql": "n = 3"}, use_index=False, limit="1", version="3")

    assert [3] == found["n"].to_pylist()
    assert body["used"] is False


def test_a_text_is_asked(ask: Ask) -> None:
    """Rows come with their score, best first; nothing is said of an index."""
    body, found = ask(text={"match": {"query": "fox", "column": "t"}}, **{"with": ["_rowaddr"]})

    assert [2, 0] == found["_rowaddr"].to_pylist()
    assert "used" not in body


FOX, DOG = ({"match": {"query": word, "column": "t"}} for word in ("fox", "dog"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ({"match": {"query": "fox dog", "column": "t", "operator": "and"}}, []),
        ({"match": {"query": "fix", "column": "t", "fuzziness": 1}}, [0, 2]),
        ({"multi_match": {"query": "dog", "columns": ["t"]}}, [1]),
        ({"combined": {"query": "dog", "columns": ["t"]}}, [1]),
        ({"boolean": {"should": [FOX, DOG], "must_not": [DOG]}}, [0, 2]),
        ({"boost": {"positive": FOX, "negative": DOG, "negative_boost": "0.25"}}, [0, 2]),
        ({"boost": {"positive": FOX, "negative": DOG}}, [0, 2]),
    ],
)
def test_kinds_of_queries(ask: Ask, text: Message, rows: list[int]) -> None:
    """Each is made by the class of its name, its parts too."""
    _, found = ask(text=text, **{"with": ["_rowaddr"]})

    assert rows == sorted(found["_rowaddr"].to_pylist())


def test_what_is_claimed() -> None:
    """Types that have cases, filters and texts."""
    assert "BTREE" in capabilities()["index.search"]["types"]


def test_vectors_are_asked(tmp_path: Path) -> None:
    """The nearest rows come with their distances, from an index or past it."""
    uri, out = str(tmp_path / "table.lance"), str(tmp_path / "out.arrow")
    numbers = [float(n // 2) for n in range(40)]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(numbers, pa.float32()), 2)
    made = pylanceref.write_dataset(pa.table({"n": range(20), "v": vectors}), uri)
    made.create_index("v", "IVF_FLAT", num_partitions=2)
    search = operations(pylanceref, pylanceref.query)["index.search"]
    nearest = {"column": "v", "q": ["3", "3"], "k": 3, "nprobes": 2, "range": ["0", "2"]}
    request = {"id": 1, "op": "index.search", "uri": uri, "out": out, "nearest": nearest}
    assert not check_request(request)
    for others, used in (({"filter": {"sql": "n < 4"}}, True), ({"use_index": False}, False)):
        body = search({**request, **others})
        assert not check_response("index.search", {"id": 1, "ok": body})
        found = read_output(Path(out))
        assert body["used"] is used
        assert [3] == found["n"].to_pylist()
        assert [0.0] == found["_distance"].to_pylist()
