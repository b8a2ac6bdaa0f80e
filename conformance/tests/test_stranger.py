"""Tests of the fixtures as a stranger finds them: a tarball, the page in it, and no runner."""

from __future__ import annotations

import json
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lance_conformance import cli
from lanceref.core.errors import LanceError
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
        given = path.parent / case["input"]["path"]
        assert case["input"]["sha256"] == sha256(given.read_bytes()).hexdigest()
        wanted = case["expect"][0]
        try:
            found = read(given, **case["input"].get("args", {}))
        except LanceError:
            verdicts[case["id"]] = "reject" in wanted
        else:
            told = wanted.get("table")
            verdicts[case["id"]] = told is not None and found.cast(
                (right := _arrow(path.parent / told["path"])).schema
            ).equals(right)
    return verdicts


def test_the_page_is_enough(unpacked: Path) -> None:
    """A loop written from the page finds a good reader right on every case of files."""
    verdicts = _verdicts(unpacked, _read)

    assert len(verdicts) >= 30
    assert [] == [name for name, right in verdicts.items() if not right]


def test_the_page_finds_a_bad_reader(unpacked: Path) -> None:
    """A reader that leaves out the first row of every file is wrong wherever rows are due."""
    verdicts = _verdicts(unpacked, lambda path: _read(path).slice(1))

    assert any(verdicts.values())
    assert sum(not right for right in verdicts.values()) > 10


def test_a_table_lies_there_whole(unpacked: Path) -> None:
    """The files of a table that its manifest lists are there, with their hashes."""
    manifests = sorted((unpacked / "table").rglob("case.json"))

    assert manifests
    for path in manifests:
        given = json.loads(path.read_text())["input"]
        for name, digest in given["files"].items():
            found = (path.parent / given["uri"] / name).read_bytes()
            assert digest == sha256(found).hexdigest()


def test_the_page_comes_along(unpacked: Path) -> None:
    """Who has the tarball has the page, and every field of a manifest is explained there."""
    page = (unpacked / "README.md").read_text("utf-8")
    every = {key for path in unpacked.rglob("case.json") for key in json.loads(path.read_text())}

    told = every - {"schema", "note", "provenance", "introduced", "limits", "flags"}
    assert [] == sorted(name for name in told if f"`{name}`" not in page)
