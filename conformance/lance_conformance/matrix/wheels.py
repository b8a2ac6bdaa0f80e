"""Wheels: published releases of the oracle, each in its own environment, with a worker process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from lance_conformance.oracle import PINS

WORKER = Path(__file__).with_name("library_worker.py")
"""Script of the worker process."""

TIMEOUT_SECONDS = 120
"""Timeout of a request."""


def cache() -> Path:
    """Return the folder of the environments."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "lance-conformance", "wheels")


def interpreter(release: str, home: Path, more: Sequence[str] = ()) -> Path:
    """Return the interpreter of the environment of a release below `home`; create it if missing.

    `more` are further packages; an environment without them is created again.
    """
    folder = home / release
    python = folder / "bin" / "python"
    done = folder / "complete"
    if done.exists() and set(more) <= set(done.read_text("utf-8").split()):
        return python
    packages = [f"pylance=={release}", *PINS.get(release, ()), *more]
    uv = shutil.which("uv")
    if uv is not None:
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), *packages)
    else:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", *packages)
    done.write_text(" ".join(packages), encoding="utf-8")
    return python


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@dataclass(slots=True)
class Worker:
    """A process of a library worker, started on the first request and after it died."""

    name: str
    python: Path
    library: str = "lance"
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def request(self, do: str, **arguments: object) -> Any:
        """Return the response to a request, or None if the process died."""
        process = self._ensure_started()
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(TIMEOUT_SECONDS, process.kill)
        alarm.start()
        process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        process.stdin.flush()
        response = process.stdout.readline()
        alarm.cancel()
        if not response:
            process.wait()
            return None
        return json.loads(response)

    def _ensure_started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            environment = {**os.environ, "RUST_BACKTRACE": "0"}
            if self.library == "lance":
                environment.pop("PYTHONPATH", None)
            self._process = subprocess.Popen(
                [str(self.python), str(WORKER), self.library],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            assert self._process.stdout is not None
            if not self._process.stdout.readline():
                raise RuntimeError(f"{self.name}: {self.python} {WORKER} does not start")
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def reference() -> Worker:
    """Return the process of the reference, in this environment."""
    return Worker("lanceref", Path(sys.executable), "pylanceref")
