"""Tests of the end of what an adapter started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lance_conformance import descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="found by /proc, on Linux only")


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("script", ["sleep 4711", "setsid sleep 4711", "setsid -f sleep 4711"])
def test_children_end_with_their_root(tmp_path: Path, script: str) -> None:
    """Also one that left the session, and one whose parent is gone."""
    assert descendants.adopt_orphans()
    mark, pids = f"test-{os.getpid()}", tmp_path / "pids"
    script = script.replace("sleep", f"sh -c 'echo $$ >> {pids}; exec sleep 4711' #")
    root = subprocess.Popen(
        ["/bin/sh", "-c", f"{script}\nsleep 4711"],
        env={**os.environ, descendants.MARK: mark},
        start_new_session=True,
    )
    try:
        while not pids.exists() or not pids.read_text().endswith("\n"):
            time.sleep(0.01)
    finally:
        root.kill()
        descendants.kill_all(root.pid, mark)
        root.wait()

    assert not any(is_running(int(pid)) for pid in pids.read_text().split())


def test_others_are_left_alone() -> None:
    """A child of this process without the mark goes on."""
    with subprocess.Popen(["sleep", "4711"]) as other:
        root = subprocess.Popen(["sleep", "4711"], start_new_session=True)
        root.kill()
        descendants.kill_all(root.pid, "no such mark")
        root.wait()
        went_on = other.poll() is None
        other.kill()

    assert went_on
