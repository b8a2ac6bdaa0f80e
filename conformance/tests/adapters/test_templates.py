"""Tests of the templates: they run as they are, and are short."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import lance_conformance
import pytest
from lance_conformance.cases import Case
from lance_conformance.outcomes import Outcome
from lance_conformance.runner import Worker
from lance_conformance.session import Session

ADAPTERS = Path(lance_conformance.__file__).parent / "adapters"


def command(name: str) -> list[str]:
    if name.endswith(".py"):
        return [sys.executable, str(ADAPTERS / name)]
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("node is missing")
        pytest.skip("node is missing: the Node.js template is not run")
    return [node, str(ADAPTERS / name)]


def footer(magic: bytes = b"LANC") -> bytes:
    return bytes(24) + bytes(8) + (0).to_bytes(2, "little") + (3).to_bytes(2, "little") + magic


@pytest.mark.parametrize("name", ["template.py", "template.mjs"])
def test_template_keeps_to_the_protocol(
    name: str, tmp_path: Path, make_case: Callable[..., Case]
) -> None:
    """A template greets, refuses what has no magic, is honest about the rest, and ends politely."""
    (tmp_path / "data.lance").write_bytes(footer(b"LANX"))
    refusing = make_case(kind="negative-file", expect=[{"reject": {"stage": "any"}}])
    session = Session(command(name), tmp_path / "scratch")
    worker = Worker(session)
    refused = worker.run(refusing).outcome
    (tmp_path / "data.lance").write_bytes(footer())
    honest = worker.run(refusing).outcome

    assert (Outcome.PASS, Outcome.UNSUPPORTED) == (refused, honest)
    assert "my-reader" == session.claims().implementation["name"]
    assert session.close()


def test_node_template_reads_the_footer(tmp_path: Path, make_case: Callable[..., Case]) -> None:
    """The toy in Node.js answers what the footer says."""
    (tmp_path / "data.lance").write_bytes(footer())
    session = Session(command("template.mjs"), tmp_path / "scratch")
    wanted = [{"facts": {"version": "2.0", "global_buffers": 0}}]
    case = make_case(kind="inspect", requires={}, expect=wanted)
    result = Worker(session).run(case)
    session.close()

    assert Outcome.PASS == result.outcome, result.detail
    assert ["facts"] == [check.name for check in result.checks]


@pytest.mark.parametrize("name", ["template.py", "template.mjs"])
def test_template_is_short(name: str) -> None:
    """A newcomer reads a template in a minute: at most 60 lines."""
    assert len((ADAPTERS / name).read_text("utf-8").splitlines()) <= 60
