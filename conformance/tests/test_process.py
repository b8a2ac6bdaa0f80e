"""Tests of an adapter process: the limits of memory it gets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lance_conformance.process import AdapterProcess

SHELL = "{limit} while read line; do echo $(ulimit -S -v) $(ulimit -H -v); done"
"""Answers every line with the soft and the hard limit of the address space, in KiB."""


def limits(limit: str, memory_mb: int, folder: Path) -> list[str]:
    """Return the soft and the hard limit of a process that sets `limit` at its start."""
    process = AdapterProcess(["/bin/sh", "-c", SHELL.format(limit=limit)], folder)
    try:
        process.exchange(b"\n", 60)
        process.note_base_memory()
        process.limit_memory(memory_mb)
        return process.exchange(b"\n", 60).decode().split()
    finally:
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a live process are Linux's")
def test_memory_limit_keeps_below_a_hard_limit(tmp_path: Path) -> None:
    """The soft limit is what the request allows, or the hard limit where that is lower."""
    soft, hard = limits("", 100, tmp_path)

    assert 100 * 1024 <= int(soft) < 200 * 1024
    assert "unlimited" == hard
    assert ["500000", "500000"] == limits("ulimit -v 500000;", 4096, tmp_path)
    assert ["500000"] == limits("ulimit -S -v 400000; ulimit -H -v 500000;", 4096, tmp_path)[1:]
