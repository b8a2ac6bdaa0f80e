"""Adapters: of pylance and of the reference, templates, releases, and what each is asked to do."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import lance_conformance
import pyarrow as pa
import pylanceref
import pylanceref.query
import pytest
from lance_conformance import oracle
from lance_conformance.adapters import reference, releases
from lance_conformance.adapters.operation_translation import translate_operation
from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.server import Message, Unsupported, write_table
from lance_conformance.adapters.table_scan import hello_message, operations
from lance_conformance.judging.runner import Worker
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import messages, output
from lance_conformance.protocol.session import Limits, Session
from lance_conformance.recipes.scenario_plans import commit
from pylanceref.fragment import write_fragments
from pylanceref.operation import LanceOperation
from pylanceref.operation import LanceOperation as Op


@pytest.mark.oracle
def test_panics_in_both_forms():
    """A class named like a panic, or a text that mentions one, is reported as panicked."""

    class PanicException(BaseException):
        pass

    assert PanicException in refusal_types()
    assert refusal_response(PanicException("index out of bounds"))["panicked"]
    assert refusal_response(OSError("task 14 panicked with message x"))["panicked"]
    assert "panicked" not in refusal_response(OSError("Not found: x"))


LIMITS = Limits(20, 2048)
TABLE = pa.table({"a": list(range(10)), "b": [str(n) for n in range(10)]})


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["reference", "pylance"])
def test_every_claimed_operation_answers(name, tmp_path):
    """Files and datasets are read whole, in part and by rows; facts and versions are returned."""
    uri, path = str(tmp_path / "table.lance"), str(tmp_path / "data.lance")
    oracle.lance().write_dataset(TABLE, uri, data_storage_version="2.1")
    with oracle.lance_file().LanceFileWriter(path, TABLE.schema, version="2.0") as writer:
        writer.write_batch(TABLE)
    session = Session(
        [sys.executable, "-m", f"lance_conformance.adapters.{name}"], tmp_path / "scratch"
    )
    out = tmp_path / "out.arrow"

    def ask(op: str, **fields: object) -> dict[str, object]:
        answer = session.request(op, fields, LIMITS)
        assert answer.response is not None, answer.detail + answer.stderr
        assert "ok" in answer.response, answer.response
        return dict(answer.response["ok"])

    def table(op: str, **fields: object) -> list[int]:
        ask(op, out=str(out), **fields)
        return list(output.read_output(out)["a"].to_pylist())

    assert list(range(10)) == table("file.read", path=path)
    assert [2, 3] == table("file.read", path=path, ranges=[["2", "4"]], columns=["a"])
    assert [0, 9] == table("file.read", path=path, rows=["0", "9"])
    assert list(range(10)) == table("dataset.read", uri=uri, version="1")
    assert [4, 5] == table("dataset.read", uri=uri, offset="4", limit="2", columns=["a"])
    assert [0, 9] == table("dataset.take", uri=uri, offsets=["0", "9"])
    assert "2.0" == ask("file.inspect", path=path)["version"]
    assert "10" == ask("file.inspect", path=path)["num_rows"]
    assert "1" == ask("dataset.versions", uri=uri)["latest"]
    (tmp_path / "data.lance").write_bytes(b"not Lance")
    refused = session.request("file.read", {"path": path, "out": str(out)}, LIMITS)
    session.close()

    assert refused.response is not None
    assert "reject" in refused.response


def test_a_panic_where_the_call_awaits():
    """The class that comes into being with such a panic is a refusal, reported as panicked."""

    class RustPanic(Exception):
        pass

    assert RustPanic in refusal_types()
    assert refusal_response(RustPanic("unknown error"))["panicked"]


@pytest.mark.parametrize(
    "error",
    [
        TypeError("scanner() got an unexpected keyword argument 'x'"),
        AttributeError("module 'lance.query' has no attribute 'CombinedFieldsQuery'"),
        LookupError("no class UpdateMap"),
        LookupError("LanceOperation.Update has no fields_modified"),
    ],
)
def test_a_name_that_is_missing_is_a_gap(error):
    """What the release does not have is unsupported."""

    def operation(request: Message) -> Message:
        raise error

    with pytest.raises(Unsupported, match=re.escape(str(error))):
        releases.unsupported_if_missing(operation)({})


def test_messages_keep_to_the_protocol(tmp_path):
    """Both what an engine says of itself and what it answers."""
    hello = hello_message({"name": "e", "version": "1", "language": "c"}, {"features": ["blob"]})
    out = str(tmp_path / "out.arrow")
    table = pa.table({"a": [1]})
    body = operations(lambda scan: table)["dataset.read"]({"uri": "t", "out": out})

    assert [] == messages.response_problems("hello", {"id": 0, "ok": hello})
    assert [] == messages.response_problems("dataset.read", {"id": 1, "ok": body})
    with pa.OSFile(out) as source:
        assert table == pa.ipc.open_file(source).read_all()


@pytest.mark.oracle
def test_a_twin_says_the_same(tmp_path):
    """Fragments, fields, schemas and maps are carried over at any depth."""
    from lance_conformance.adapters import pylance

    pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path)
    (fragment,) = pylanceref.dataset(tmp_path).get_fragments()
    merged, schema = fragment.merge_columns({"b": "a + 1"})
    lance = importlib.import_module("lance")

    made = translate_operation(pylance._PLACES, Op.Merge([merged], schema))
    update = Op.UpdateConfig(config_updates=Op.UpdateMap({"k": None}, True))
    edit = translate_operation(pylance._PLACES, update)

    assert isinstance(made, lance.LanceOperation.Merge)
    assert merged.to_json() == made.fragments[0].to_json()
    assert schema.to_pyarrow() == made.schema.to_pyarrow()
    assert ({"k": None}, True) == (edit.config_updates.updates, edit.config_updates.replace)


ADAPTERS = Path(lance_conformance.__file__).parent / "adapters"


def footer(magic: bytes = b"LANC") -> bytes:
    return bytes(24) + bytes(8) + (0).to_bytes(2, "little") + (3).to_bytes(2, "little") + magic


@pytest.mark.parametrize("name", ["template.py", "template.mjs"])
def test_template_keeps_to_the_protocol(name, tmp_path, make_case, program):
    """A template greets, refuses what has no magic, is honest about the rest, and ends politely."""
    start = sys.executable if name.endswith(".py") else program("node")
    (tmp_path / "data.lance").write_bytes(footer(b"LANX"))
    refusing = make_case(kind="negative-file", expect=[{"reject": {"stage": "any"}}])
    session = Session([start, str(ADAPTERS / name)], tmp_path / "scratch")
    worker = Worker(session)
    refused = worker.run(refusing).outcome
    (tmp_path / "data.lance").write_bytes(footer())
    honest = worker.run(refusing).outcome

    assert (Outcome.PASS, Outcome.UNSUPPORTED) == (refused, honest)
    assert "my-reader" == session.claims().implementation["name"]
    assert session.close()


@pytest.mark.parametrize("name", ["template.py", "template.mjs"])
def test_template_is_short(name):
    """A newcomer reads a template in a minute: at most 60 lines."""
    assert len((ADAPTERS / name).read_text("utf-8").splitlines()) <= 60


def _ask(op: str, **fields: object) -> dict[str, Any]:
    """Ask the reference; both messages keep to the schema."""
    assert [] == messages.request_problems({"id": 1, "op": op, **fields})
    response = reference.in_process(op, fields)
    assert [] == messages.response_problems(op, {"id": 1, **response})
    return response


def _rows(path: Path, *values: int) -> str:
    table = pa.table({"a": pa.array(values, pa.int64()), "b": pa.array(values, pa.int64())})
    return str(write_table(str(path), table)["out"])


def test_tables_are_written_in_every_mode(tmp_path):
    """Create, append, overwrite: versions 1, 2, 3; a second create is refused."""
    uri, rows = str(tmp_path / "t"), _rows(tmp_path / "in.arrow", 1, 2)
    for version, mode in enumerate(("create", "append", "overwrite"), 1):
        answer = _ask("write.dataset", uri=uri, input=rows, mode=mode, version="2.1", options={})
        assert {"ok": {"version": str(version)}} == answer

    assert "reject" in _ask("write.dataset", uri=uri, input=rows, mode="create")


@pytest.mark.parametrize(
    ("verb", "args", "expected"),
    [
        ("delete", {"predicate": "a = 1"}, [2, 3]),
        ("update", {"updates": {"a": "a + 10"}, "where": "a = 1"}, [2, 3, 11]),
        ("add_columns", {"expressions": {"c": "a + 1"}}, [1, 2, 3]),
        ("drop_columns", {"columns": ["b"]}, [1, 2, 3]),
        ("compact", {"target_rows_per_fragment": 10}, [1, 2, 3]),
        ("cleanup", {}, [1, 2, 3]),
    ],
)
def test_every_verb_changes_the_table(verb, args, expected, tmp_path):
    """The answer is the version there is afterwards."""
    made = pylanceref.write_dataset(
        pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}), tmp_path, max_rows_per_file=2
    )
    answer = _ask("mutate", uri=str(tmp_path), verb=verb, args=args)
    latest = pylanceref.dataset(tmp_path)

    assert {"ok": {"version": str(latest.version)}} == answer
    assert expected == latest.to_table()["a"].to_pylist()
    assert (verb == "cleanup") == (latest.version == made.version)


def test_rows_are_merged_in(tmp_path):
    """Matched rows are updated, others inserted, and with a delete nothing else stays."""
    pylanceref.write_dataset(pa.table({"a": [1, 2], "b": [0, 0]}), tmp_path / "t")
    args = {
        "on": ["a"],
        "input": _rows(tmp_path / "in.arrow", 2, 3),
        "when_matched": "update_all",
        "when_not_matched": "insert_all",
        "when_not_matched_by_source": "delete",
    }
    assert "ok" in _ask("mutate", uri=str(tmp_path / "t"), verb="merge_insert", args=args)
    rows = pylanceref.dataset(tmp_path / "t").to_table().to_pydict()

    assert {(2, 2), (3, 3)} == set(zip(rows["a"], rows["b"], strict=True))


def test_an_operation_travels_as_json(tmp_path):
    """What a recipe stages is what the adapter commits."""
    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    staged = LanceOperation.Append(write_fragments(pa.table({"a": [2]}), tmp_path, mode="append"))
    step = commit(staged, 1)

    assert {"ok": {"version": "2"}} == _ask(step.op, uri=str(tmp_path), **step.args)
    assert [1, 2] == pylanceref.dataset(tmp_path).to_table()["a"].to_pylist()
