"""The first reader of the specification: its code, rung by rung, answers the cases of each rung."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.stored import case_folder
from lanceref.proto import encodings_v2_1_pb2, file2_pb2, file_pb2, table_pb2

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "spec" / "05-first-reader.md").read_text(encoding="utf-8")
RUNGS = PAGE.split("\n## Rung ")[1:]
MESSAGES = (encodings_v2_1_pb2, file2_pb2, file_pb2, table_pb2)
"""The generated modules of this repository, as `protoc` makes them of `protos/`."""


def code(rung: str) -> str:
    """Return the code of a rung."""
    (block,) = re.findall(r"```python\n(.*?)```", rung, re.DOTALL)
    return block


def asked(rung: str) -> list[tuple[str, str]]:
    """Return the function of a rung and each of its cases."""
    ((entry, cases),) = re.findall(r"\nCases, asked of `(\w+)`: (.*)\.\n", rung)
    return [(entry, case) for case in re.findall(r"`([^`]+)`", cases)]


QUESTIONS = [
    pytest.param(number, *question, id=f"{number}-{question[1]}")
    for number, rung in enumerate(RUNGS, 1)
    for question in asked(rung)
]


@pytest.fixture(scope="module")
def readers():
    """The names that rungs 1 to n define, for each n."""
    for module in MESSAGES:
        sys.modules[module.__name__.rpartition(".")[2]] = module
    made = []
    for count in range(1, len(RUNGS) + 1):
        names: dict[str, object] = {}
        exec(compile("\n\n".join(map(code, RUNGS[:count])), "reader", "exec"), names)
        made.append(names)
    yield made
    for module in MESSAGES:
        del sys.modules[module.__name__.rpartition(".")[2]]


def test_there_are_twelve_rungs_of_several_cases():
    """Each with both kinds of answers but where nothing can be read yet."""
    assert 12 == len(RUNGS)
    assert all(4 <= len(asked(rung)) <= 8 for rung in RUNGS)


def test_the_reader_has_at_most_300_lines():
    """Blank lines apart."""
    lines = "\n".join(map(code, RUNGS)).splitlines()

    assert 300 >= sum(bool(line.strip()) for line in lines)


def test_the_reader_imports_nothing_of_the_reference():
    """Nor anything beyond the libraries that the page names."""
    imported = set(re.findall(r"^(?:import|from) (\w+)", "\n".join(map(code, RUNGS)), re.MULTILINE))
    own = {module.__name__.rpartition(".")[2] for module in MESSAGES}

    assert {"pathlib", "struct", "numpy", "pyarrow", "google"} | own == imported


@pytest.mark.parametrize(("number", "entry", "case"), QUESTIONS)
def test_a_rung_answers_its_cases(readers, number, entry, case):
    """Valid data is read equal, damaged data is refused."""
    folder = case_folder(ROOT / "fixtures" / case)
    described = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    path = str(folder / (described["input"].get("path") or described["input"]["uri"]))
    ask = readers[number - 1][entry]
    if entry == "footer":
        path = Path(path).read_bytes()
    if described["kind"].startswith("negative"):
        with pytest.raises(ValueError, match=r"\w"):
            ask(path)
        return
    expected = pa.ipc.open_file(folder / described["expect"][0]["table"]["path"]).read_all()
    answer = ask(path)
    if entry == "DataFile":
        assert expected.schema == answer.schema
        assert expected.num_rows == answer.num_rows
        return
    assert expected.schema.equals(answer.schema, check_metadata=True)
    assert repr(expected.to_pylist()) == repr(answer.to_pylist())  # NaN is like NaN here
