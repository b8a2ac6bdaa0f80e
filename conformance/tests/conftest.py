"""A toy suite of three cases, fakes that answer it, and results made by hand."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance import cli
from lance_conformance.adapters.server import write_table
from lance_conformance.judging.known_failures import Triage
from lance_conformance.judging.runner import CaseResult, CheckResult
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import Claims, Session
from lance_conformance.reports.jsonl import Run
from lance_conformance.suite import cases, suite_file

FAKE = Path(__file__).parent / "fakes" / "fake.py"
READ, NEGATIVE, LINT = "toy/any/read/columns", "toy/any/read/neg-broken", "toy/any/read/odd"
_COLUMNS = {"a": [1, 2, 3, 4], "b": ["x", None, "", "ü"]}


def _manifest(case_id: str, kind: str, data: bytes) -> dict[str, object]:
    negative = kind != "read-file"
    manifest: dict[str, object] = {
        "schema": 1,
        "id": case_id,
        "title": f"A toy of kind {kind}",
        "kind": kind,
        "clauses": [{"id": "L.toy.columns", "role": "positive"}],
        "requires": {"op": "file.read", "file_version": "2.1"},
        "provenance": {"made_by": "hand", "version": "1"},
        "input": {"path": "data.lance", "sha256": hashlib.sha256(data).hexdigest()},
        "expect": [{"table": {"path": "expect.arrow", "order": "storage"}}],
        "limits": {"seconds": 60, "memory_mb": 512},
    }
    if negative:
        clause = "L.toy.odd" if kind == "lint" else "L.toy.json"
        manifest["clauses"] = [{"id": clause, "role": "negative"}]
        manifest["provenance"] = {"made_by": "patch", "version": "1", "derived_from": READ}
        manifest["patch"] = [
            {
                "target": "data.lance",
                "at": 0,
                "was_hex": "7b",
                "now_hex": data[:1].hex(),
                "meaning": "another first byte",
            }
        ]
    if kind == "negative-file":
        manifest["expect"] = [{"reject": {"stage": "open", "before_output": False}}]
    if kind == "lint":
        manifest["expect"] = [
            {"table": {"path": "expect.arrow", "order": "storage"}, "findings": ["L.toy.odd"]}
        ]
    return manifest


def write_case(root: Path, case_id: str, kind: str, data: bytes) -> None:
    """Write one toy case."""
    folder = root / case_id
    folder.mkdir(parents=True)
    (folder / "data.lance").write_bytes(data)
    if kind != "negative-file":
        write_table(str(folder / "expect.arrow"), pa.table(_COLUMNS))
    text = suite_file.canonical_text(_manifest(case_id, kind, data))
    (folder / "case.json").write_text(text, encoding="utf-8")


@pytest.fixture
def toy_suite(tmp_path: Path) -> Path:
    """A folder of three cases: one to read, one to refuse, one to report."""
    root = tmp_path / "toys"
    write_case(root, READ, "read-file", json.dumps(_COLUMNS).encode())
    write_case(root, NEGATIVE, "negative-file", b"broken")
    write_case(root, LINT, "lint", json.dumps({**_COLUMNS, "odd": True}).encode())
    suite_file.write_suite(root)
    return root


@pytest.fixture
def long_suite(tmp_path: Path) -> Path:
    """A folder of six cases to read."""
    root = tmp_path / "long"
    for number in range(6):
        write_case(root, f"{READ}-{number:02}", "read-file", json.dumps(_COLUMNS).encode())
    suite_file.write_suite(root)
    return root


@pytest.fixture
def fake() -> Callable[[str], list[str]]:
    """The command of the fake that behaves as its mode says."""
    return lambda mode: [sys.executable, str(FAKE), mode]


@pytest.fixture
def open_session(tmp_path: Path, fake: Callable[[str], list[str]]) -> Callable[[str], Session]:
    """Sessions with fakes, by mode."""
    return lambda mode: Session(fake(mode), tmp_path / "scratch" / mode)


@pytest.fixture
def program() -> Callable[..., str]:
    """What finds a program by one of its names; without it a test is skipped, and fails in CI."""

    def find(*names: str) -> str:
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            end = pytest.fail if os.environ.get("CI") else pytest.skip
            end(f"{names[0]} is missing")
        return found

    return find


@pytest.fixture
def in_a_browser(program: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """What opens a page, at an address in it, and returns the document that a browser makes."""

    def dump(text: str, target: str = "") -> str:
        browser = program("chromium", "chromium-browser", "google-chrome")
        page = tmp_path / "page.html"
        page.write_text(text, encoding="utf-8")
        options = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"),
            *(f"--user-data-dir={tmp_path}/p", "--dump-dom", f"{page.as_uri()}#{target}"),
        ]
        command = [browser, *options]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True
        ).stdout

    return dump


@pytest.fixture
def case_bodies() -> Callable[[str], dict[str, str]]:
    """The bodies of the cases that are packed into an HTML report, by id."""

    def unpack(page: str) -> dict[str, str]:
        packed = re.search(r'id="packed">([^<]*)<', page)
        assert packed is not None
        cases = json.loads(zlib.decompress(base64.b64decode(packed[1])))
        return {name: body for name, (body, _) in cases.items()}

    return unpack


def make_claims(**capabilities: dict[str, object]) -> Claims:
    """Claims of the operations given (a dot in their name is written as two underscores)."""
    named = {name.replace("__", "."): value for name, value in capabilities.items()}
    toy = {"name": "toy", "version": "1", "language": "none"}
    return Claims(toy, named, {"protocol": 1, "implementation": toy, "capabilities": named})


@pytest.fixture
def claims() -> Callable[..., Claims]:
    """A maker of claims."""
    return make_claims


@pytest.fixture
def make_case(tmp_path: Path) -> Callable[..., cases.Case]:
    """A maker of cases that exist only as manifests; arguments replace parts of it."""

    def make(case_id: str = READ, kind: str = "read-file", **parts: object) -> cases.Case:
        return cases.Case(tmp_path, {**_manifest(case_id, kind, b"{}"), **parts})

    return make


@pytest.fixture
def make_result(make_case: Callable[..., cases.Case]) -> Callable[..., CaseResult]:
    """A maker of results: id, outcome, and what differs in the manifest."""

    def make(
        case_id: str = READ, outcome: Outcome = Outcome.PASS, detail: str = "", **parts: object
    ) -> CaseResult:
        check = CheckResult("full", outcome, detail)
        return CaseResult(make_case(case_id, **parts), outcome, (check,), detail)

    return make


@pytest.fixture
def make_run() -> Callable[..., Run]:
    """A maker of runs from results."""

    def make(results: list[CaseResult], triage: Triage | None = None, **parts: object) -> Run:
        values: dict[str, object] = {
            "claims": make_claims(file__read={}),
            "results": results,
            "triage": triage or Triage(),
            "active": [result.case for result in results],
            "register": {},
            "profile": "format",
            "started": "2026-01-01T00:00:00+00:00",
            "exit_code": 0,
        }
        return Run(**{**values, **parts})  # type: ignore[arg-type]

    return make


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], toy_suite: Path
) -> Callable[..., tuple[int, str]]:
    """Run the command on the toy suite; returns exit code and output."""

    def run(name: str, *arguments: str) -> tuple[int, str]:
        line = ["lance-conformance", name, "--fixtures", str(toy_suite), *arguments]
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code = ended.value.code
        captured = capfd.readouterr()
        return (code if isinstance(code, int) else 0), captured.out + captured.err

    return run
