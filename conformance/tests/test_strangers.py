"""The fixtures and the text as a stranger finds them."""

import json
import re
import sys
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lance_conformance import cli, resources
from lance_conformance.suite import case_storage
from lanceref.core.errors import LanceError
from lanceref.proto import encodings_v2_1_pb2, file2_pb2, file_pb2, table_pb2
from pylanceref.file import LanceFileReader

CHOSEN = ["file/2.1/levels/**", "file/2.0/container/**", "table/any/deletions/*"]


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tarball of some cases, made by the command and taken apart."""
    tarball = tmp_path / "cases.tar.gz"
    chosen = [word for one in CHOSEN for word in ("--only", one)]
    monkeypatch.setattr(sys, "argv", ["lance-conformance", "copy", str(tarball), *chosen])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    with tarfile.open(tarball) as tar:
        assert {("", 0)} == {(member.uname, member.mtime) for member in tar}
        tar.extractall(tmp_path, filter="data")
    return tmp_path / "fixtures"


def _read(path: Path) -> pa.Table:
    return LanceFileReader(path).read_all().to_table()


def _arrow(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _verdicts(root: Path, read: Any) -> dict[str, bool]:
    """Do what the page says, with its words only."""
    verdicts = {}
    for path in sorted(root.rglob("case.json")):
        case = json.loads(path.read_text())
        if case.get("status", "active") != "active" or "path" not in case["input"]:
            continue
        assert case["id"] == path.parent.relative_to(root).as_posix()
        input_path = path.parent / case["input"]["path"]
        assert case["input"]["sha256"] == sha256(input_path.read_bytes()).hexdigest()
        expected = case["expect"][0]
        try:
            found = read(input_path, **case["input"].get("args", {}))
        except LanceError:
            verdicts[case["id"]] = "reject" in expected
        else:
            right = _arrow(path.parent / expected["table"]["path"]) if "table" in expected else None
            if right is not None and found.schema != right.schema:
                found = found.cast(right.schema)
            verdicts[case["id"]] = right is not None and found.equals(right)
    return verdicts


def test_the_page_is_enough(unpacked):
    """A loop written from the page finds a good reader right on every case of files."""
    verdicts = _verdicts(unpacked, _read)

    assert len(verdicts) >= 30
    assert [] == [name for name, right in verdicts.items() if not right]


def test_the_page_finds_a_bad_reader(unpacked):
    """A reader that leaves out the first row of every file is wrong wherever rows are due."""
    verdicts = _verdicts(unpacked, lambda path: _read(path).slice(1))

    assert any(verdicts.values())
    assert sum(not right for right in verdicts.values()) > 10


def test_a_table_lies_there_whole(unpacked):
    """The files of a table that its manifest lists are there, with their hashes."""
    manifests = sorted((unpacked / "table").rglob("case.json"))

    assert manifests
    for path in manifests:
        case_input = json.loads(path.read_text())["input"]
        for name, digest in case_input["files"].items():
            found = (path.parent / case_input["uri"] / name).read_bytes()
            assert digest == sha256(found).hexdigest()


def _files_of(root: Path, case_id: str) -> dict[str, bytes]:
    """The function of the page."""
    home, zipped = root / case_id, root / case_id / "files.zip"
    files = {p.name: p.read_bytes() for p in home.iterdir() if p != zipped}
    if zipped.exists():
        pack = zipfile.ZipFile(zipped)
        files |= {name: pack.read(name) for name in pack.namelist()}
    return files


def _by_hand(root: Path, case_id: str) -> dict[str, bytes]:
    """Put a case together as the steps of the page say."""
    files = _files_of(root, case_id)
    case = json.loads(files["case.json"])
    layout = case.pop("stored", {"from": []})
    others = [data for other in layout["from"] for data in _files_of(root, other).values()]
    known = {sha256(data).hexdigest(): data for data in (*others, *files.values())}
    for edit in layout.get("edits", []):
        data = known[edit["of"]]
        for change in reversed(edit["changes"]):
            end = change["at"] + change["remove"]
            data = data[: change["at"]] + bytes.fromhex(change["insert"]) + data[end:]
        files[edit["file"]] = data
    source = case["input"]
    listed = {f"{source.get('uri')}/{name}": one for name, one in source.get("files", {}).items()}
    listed |= {source["path"]: source["sha256"]} if "path" in source else {}
    tables = (expected["table"] for expected in case["expect"] if "table" in expected)
    listed |= {one["path"]: one["sha256"] for one in tables}
    for name, digest in listed.items():
        files.setdefault(name, known.get(digest, b""))
        assert digest == sha256(files[name]).hexdigest()
    return files | {"case.json": (json.dumps(case, indent=2, ensure_ascii=False) + "\n").encode()}


def test_every_case_is_put_together_by_hand():
    """The steps of the page give the files that our own program gives."""
    root = resources.fixtures()
    ids = json.loads((root / "SUITE.json").read_text("utf-8"))["cases"]

    assert [] == [one for one in ids if _by_hand(root, one) != case_storage.read_case(root / one)]


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


def test_the_reader_imports_nothing_of_the_reference():
    """Nor anything beyond the libraries that the page names."""
    imported = set(re.findall(r"^(?:import|from) (\w+)", "\n".join(map(code, RUNGS)), re.MULTILINE))
    own = {module.__name__.rpartition(".")[2] for module in MESSAGES}

    assert {"pathlib", "struct", "numpy", "pyarrow", "google"} | own == imported


@pytest.mark.parametrize(("number", "entry", "case"), QUESTIONS)
def test_a_rung_answers_its_cases(readers, number, entry, case):
    """Valid data is read equal, damaged data is refused."""
    folder = case_storage.case_folder(ROOT / "fixtures" / case)
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
