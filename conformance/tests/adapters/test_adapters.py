"""Adapters of pylance and of the reference, templates, and what releases have."""

import importlib
import re
import sys
from pathlib import Path

import lance_conformance
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance import oracle
from lance_conformance.adapters import releases
from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.scanned import claims, operations
from lance_conformance.adapters.skeleton import Message, NotClaimed
from lance_conformance.adapters.twin import twin
from lance_conformance.outcomes import Outcome
from lance_conformance.output import read_output
from lance_conformance.protocol import check_response
from lance_conformance.runner import Worker
from lance_conformance.session import Limits, Session
from pylanceref.operation import LanceOperation as Op


@pytest.mark.oracle
def test_panics_in_both_forms():
    """A class named like a panic, or a text that mentions one, is reported as panicked."""
    from lance_conformance.adapters import pylance

    class PanicException(BaseException):
        pass

    assert PanicException in pylance.refusals()
    assert pylance.refuse(PanicException("index out of bounds"))["panicked"]
    assert pylance.refuse(OSError("task 14 panicked with message x"))["panicked"]
    assert "panicked" not in pylance.refuse(OSError("Not found: x"))


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
        answer = session.ask(op, fields, LIMITS)
        assert answer.response is not None, answer.detail + answer.stderr
        assert "ok" in answer.response, answer.response
        return dict(answer.response["ok"])

    def table(op: str, **fields: object) -> list[int]:
        ask(op, out=str(out), **fields)
        return list(read_output(out)["a"].to_pylist())

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
    refused = session.ask("file.read", {"path": path, "out": str(out)}, LIMITS)
    session.close()

    assert refused.response is not None
    assert "reject" in refused.response


def test_a_panic_where_the_call_awaits():
    """The class that comes into being with such a panic is a refusal, reported as panicked."""

    class RustPanic(Exception):
        pass

    assert RustPanic in refusals()
    assert refuse(RustPanic("unknown error"))["panicked"]


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

    with pytest.raises(NotClaimed, match=re.escape(str(error))):
        releases.as_offered(operation)({})


def test_messages_keep_to_the_protocol(tmp_path):
    """Both what an engine says of itself and what it answers."""
    hello = claims({"name": "e", "version": "1", "language": "c"}, {"features": ["blob"]})
    out = str(tmp_path / "out.arrow")
    table = pa.table({"a": [1]})
    body = operations(lambda scan: table)["dataset.read"]({"uri": "t", "out": out})

    assert [] == check_response("hello", {"id": 0, "ok": hello})
    assert [] == check_response("dataset.read", {"id": 1, "ok": body})
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

    made = twin(pylance._PLACES, Op.Merge([merged], schema))
    edit = twin(pylance._PLACES, Op.UpdateConfig(config_updates=Op.UpdateMap({"k": None}, True)))

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
