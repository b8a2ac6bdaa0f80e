"""Operations of adapters: writing, asking an index, showing what an index holds."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pylanceref
import pylanceref.query
import pytest
from lance_conformance.adapters import reference
from lance_conformance.adapters.skeleton import write_table
from lance_conformance.protocol import check_request, check_response
from lance_conformance.recipes.staging import commit
from pylanceref.fragment import write_fragments
from pylanceref.operation import LanceOperation


def _ask(op: str, **fields: object) -> dict[str, Any]:
    """Ask the reference; both messages keep to the schema."""
    assert [] == check_request({"id": 1, "op": op, **fields})
    response = reference.in_process(op, fields)
    assert [] == check_response(op, {"id": 1, **response})
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
    ("verb", "args", "wanted"),
    [
        ("delete", {"predicate": "a = 1"}, [2, 3]),
        ("update", {"updates": {"a": "a + 10"}, "where": "a = 1"}, [2, 3, 11]),
        ("add_columns", {"expressions": {"c": "a + 1"}}, [1, 2, 3]),
        ("drop_columns", {"columns": ["b"]}, [1, 2, 3]),
        ("compact", {"target_rows_per_fragment": 10}, [1, 2, 3]),
        ("cleanup", {}, [1, 2, 3]),
    ],
)
def test_every_verb_changes_the_table(verb, args, wanted, tmp_path):
    """The answer is the version there is afterwards."""
    made = pylanceref.write_dataset(
        pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}), tmp_path, max_rows_per_file=2
    )
    answer = _ask("mutate", uri=str(tmp_path), verb=verb, args=args)
    latest = pylanceref.dataset(tmp_path)

    assert {"ok": {"version": str(latest.version)}} == answer
    assert wanted == latest.to_table()["a"].to_pylist()
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
    held = pylanceref.dataset(tmp_path / "t").to_table().to_pydict()

    assert {(2, 2), (3, 3)} == set(zip(held["a"], held["b"], strict=True))


def test_an_operation_travels_as_json(tmp_path):
    """What a recipe stages is what the adapter commits."""
    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    staged = LanceOperation.Append(write_fragments(pa.table({"a": [2]}), tmp_path, mode="append"))
    step = commit(staged, 1)

    assert {"ok": {"version": "2"}} == _ask(step.op, uri=str(tmp_path), **step.args)
    assert [1, 2] == pylanceref.dataset(tmp_path).to_table()["a"].to_pylist()
