"""Adapters of what others wrote, where it is installed, and the examples written from the text."""

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import lance_conformance
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance import resources
from lance_conformance.adapters.server import Unsupported, write_table
from lance_conformance.adapters.table_scan import Scan
from lance_conformance.judging.runner import run_adapter
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import DEFAULT_LIMITS, Session
from lance_conformance.suite.cases import Selection, load, select

ADAPTERS = Path(lance_conformance.__file__).parent / "adapters"
TEXTS = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"]})


def _adapter(package: str, name: str) -> Any:
    """Return the module of an adapter, where the package that it drives is installed."""
    pytest.importorskip(package)
    return import_module(f"lance_conformance.adapters.{name}")


def _of_lancedb(_: Path) -> Iterator[Callable[..., object]]:
    operations = _adapter("lancedb", "lancedb").OPERATIONS
    yield lambda op, request: operations[op](request)


def _of_lancedb_node(folder: Path) -> Iterator[Callable[..., object]]:
    if not Path(os.environ.get("NODE_HOME", ""), "node_modules/@lancedb").is_dir():
        pytest.skip("@lancedb/lancedb is missing")
    session = Session(["node", str(ADAPTERS / "lancedb.mjs")], folder / "scratch")
    yield lambda op, request: session.request(op, request, DEFAULT_LIMITS)
    session.close()


def _of_duckdb(_: Path) -> Iterator[Callable[..., object]]:
    duckdb = _adapter("duckdb_extension_lance", "duckdb")
    connected = duckdb.connection()
    names = {"write.dataset": "write", "mutate": "mutate", "index.search": "search"}
    yield lambda op, request: getattr(duckdb, names[op])(connected, {"columns": ["a"]} | request)


NEAREST = {"column": "v", "q": ["0", "0"], "k": 1}

READS = (
    ("dataset.read", {}, [1, 3]),
    ("dataset.take", {"offsets": ["1"]}, [3]),
    ("index.search", {"filter": {"sql": "a > 1"}}, [3]),
    ("index.search", {"nearest": NEAREST}, [1]),
)
"""What is asked after a row was deleted, and the numbers that it finds."""

NEAR = (("index.search", {"nearest": NEAREST | {"nprobes": 1}}, [1]),)


@pytest.mark.parametrize(
    ("party", "reads"), [(_of_lancedb, READS), (_of_lancedb_node, READS), (_of_duckdb, NEAR)]
)
def test_what_is_written_is_changed_and_found(party, reads, tmp_path):
    """The operations of a table go through its folder and its name, or through SQL."""
    type_ = pa.list_(pa.float32(), 2)
    vectors = pa.array([[0.0, 1.0], [1.0, 1.0], [5.0, 5.0]], type_)
    source, out = str(tmp_path / "in.arrow"), str(tmp_path / "out.arrow")
    write_table(source, pa.table({"a": [1, 2, 3], "v": vectors}))
    fields = {"uri": str(tmp_path / "t.lance"), "out": out}
    for ask in party(tmp_path):
        ask("write.dataset", fields | {"input": source, "mode": "create", "version": "2.1"})
        ask("mutate", fields | {"verb": "delete", "args": {"predicate": "a = 2"}})
        for op, more, expected in reads:
            ask(op, fields | more)
            with pa.OSFile(out) as file:
                assert expected == pa.ipc.open_file(file).read_all()["a"].to_pylist()


@pytest.mark.parametrize("name", ["daft_lance", "polars_lance"])
def test_what_is_written_is_scanned(name, tmp_path):
    """Filters and columns go to the party; rows come back, and values keep their types."""
    party = _adapter(name, name)
    source, uri = str(tmp_path / "in.arrow"), str(tmp_path / "t.lance")
    write_table(source, TEXTS)
    party.write({"uri": uri, "input": source, "mode": "create"})
    scan = partial(Scan, uri, None)

    assert TEXTS.to_pydict() == party.scan(scan(None, None, None, 0)).to_pydict()
    assert pa.int64() == party.scan(scan(None, None, None, 0)).schema.field("a").type
    assert {"s": [None, "z"]} == party.scan(scan(["s"], "a > 1", None, 0)).to_pydict()
    if name == "polars_lance":
        assert {"a": [2]} == party.scan(scan(["a"], None, 1, 1)).to_pydict()
        return
    party.write({"uri": uri, "input": source, "mode": "append"})
    assert TEXTS.to_pydict() == party.scan(Scan(uri, 1, None, None, None, 0)).to_pydict()
    assert 3 == party.scan(scan(["s"], "a > 1", 3, 0)).num_rows
    party.mutate({"uri": uri, "verb": "compact"})
    index = {"column": "a", "type": "BTREE"}
    party.mutate({"uri": uri, "verb": "create_index", "args": index})
    assert [2, 2] == party.scan(scan(None, "a = 2", None, 0))["a"].to_pylist()
    assert 1 == len(list((tmp_path / "t.lance" / "_indices").iterdir()))


@pytest.mark.parametrize(
    ("name", "call", "fields"),
    [
        ("daft_lance", "mutate", {"verb": "delete", "args": {"predicate": "a = 1"}}),
        ("polars_lance", "write", {"version": "2.1"}),
        ("polars_lance", "write", {"options": {"enable_stable_row_ids": True}, "version": "2.0"}),
    ],
)
def test_what_a_party_cannot_do_is_a_gap(name, call, fields, tmp_path):
    """Nothing is written where a choice would be passed over."""
    fields = {"uri": str(tmp_path / "t"), "input": "none", "mode": "create", **fields}
    with pytest.raises(Unsupported):
        getattr(_adapter(name, name), call)(fields)

    assert not (tmp_path / "t").exists()


def test_lines_of_json_become_a_table_again(tmp_path):
    """Types are those that the command prints; a type that it cannot print is unsupported."""
    lancecli = _adapter("lancecli", "lancecli")
    rows = TEXTS.set_column(0, "a", TEXTS["a"].cast(pa.int32()))
    uri, out, dated = (str(tmp_path / name) for name in ("t.lance", "out.arrow", "dated.lance"))
    pylanceref.write_dataset(rows, uri)
    pylanceref.write_dataset(rows.slice(1, 1), uri, mode="append")
    pylanceref.write_dataset(pa.table({"d": pa.array([0], pa.date32())}), dated)
    request = {"uri": uri, "out": out}

    def taken(answer: dict[str, object]) -> pa.Table:
        with pa.OSFile(str(answer["out"])) as source:
            return pa.ipc.open_file(source).read_all()

    found = lancecli.search(request | {"filter": {"sql": "a > 1"}, "columns": ["a"]})
    assert rows == lancecli.scan(Scan(uri, 1, None, None, None, 0))
    assert [2, 3, 2] == taken(found)["a"].to_pylist()
    assert ["z", "x"] == taken(lancecli.take(request | {"offsets": ["2", "0"]}))["s"].to_pylist()
    assert "2" == lancecli.versions(request)["latest"]
    with pytest.raises(lancecli.Refused):
        lancecli.scan(Scan(str(tmp_path / "nothing.lance"), None, None, None, None, 0))
    with pytest.raises(Unsupported, match="date32"):
        lancecli.scan(Scan(dated, None, None, None, None, 0))
    with pytest.raises(Unsupported, match="offsets"):
        lancecli.scan(Scan(uri, None, None, None, None, 1))


JAVA = (
    *("file/0.1/**", "file/2.0/**", "table/any/backward/*", "table/any/json/*"),
    *("index/any/bitmap/*", "index/any/btree/*", "index/any/ivf-flat/*", "index/any/ivf-pq/*"),
)
"""Where the cases are that the example in Java claims."""

EVERY = 8
"""One case of so many is asked about."""


@pytest.mark.parametrize(
    ("language", "only", "share"),
    [("java", JAVA, 0.7), ("node", ("file/2.1/**", "file/2.2/**", "table/**"), 0.6)],
)
def test_an_example_reads_what_is_valid_and_refuses_what_is_damaged(
    language, only, share, tmp_path, program
):
    """Of every eighth case each passes or is not claimed: files, tables, flags that it knows."""
    if language == "node":
        command = [program("node"), str(ADAPTERS / "examples/node/adapter.mjs")]
    else:
        sources = [str(path) for path in sorted((ADAPTERS / "examples/java").glob("*.java"))]
        compiler = [program("javac"), "-Xlint:all", "-Werror", "-d", str(tmp_path / "classes")]
        subprocess.run([*compiler, *sources], check=True)
        command = [program("java"), "-cp", str(tmp_path / "classes"), "Adapter"]
    cases = select(load(resources.fixtures()), Selection(profile="all", only=only))[::EVERY]

    claims, results = run_adapter(command, cases, tmp_path)

    counts = Counter(result.outcome for result in results)
    allowed = {Outcome.PASS, Outcome.UNSUPPORTED}
    assert allowed == set(counts), [
        (result.case.id, result.detail) for result in results if result.outcome not in allowed
    ]
    assert counts[Outcome.PASS] >= share * len(cases)
    if language == "node":
        stages = {one.reject["stage"] for each in results for one in each.checks if one.reject}
        assert ("3", {"open"}) == (claims.hello["flags"]["reader_known"], stages)
