"""Wheels: published releases of the oracle, each in an environment of its own, and their actors."""

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

ACTOR = Path(__file__).with_name("actor.py")
"""The script that every environment runs."""

PATIENCE = 120
"""Seconds that one request may take."""


def cache() -> Path:
    """Return the folder that keeps the environments."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "lance-conformance", "wheels")


def interpreter(release: str, home: Path, more: Sequence[str] = ()) -> Path:
    """Return the interpreter of a release's environment below `home`, made when it is missing.

    `more` are packages it has besides; an environment that was made without them is made anew.
    """
    folder = home / release
    python = folder / "bin" / "python"
    done = folder / "complete"
    if done.exists() and set(more) <= set(done.read_text("utf-8").split()):
        return python
    wanted = [f"pylance=={release}", *PINS.get(release, ()), *more]
    uv = shutil.which("uv")
    if uv is not None:
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), *wanted)
    else:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", *wanted)
    done.write_text(" ".join(wanted), encoding="utf-8")
    return python


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@dataclass(slots=True)
class Wheel:
    """An actor in its own process, started when first asked and again after it died."""

    name: str
    python: Path
    library: str = "lance"
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def ask(self, do: str, **request: object) -> Any:
        """Return the answer to a request, None when the process died of it."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(PATIENCE, process.kill)
        alarm.start()
        process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        alarm.cancel()
        if not answer:
            process.wait()
            return None
        return json.loads(answer)

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            environment = {**os.environ, "RUST_BACKTRACE": "0"}
            if self.library == "lance":
                environment.pop("PYTHONPATH", None)
            self._process = subprocess.Popen(
                [str(self.python), str(ACTOR), self.library],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            assert self._process.stdout is not None
            if not self._process.stdout.readline():
                raise RuntimeError(f"{self.name}: {self.python} {ACTOR} does not start")
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def reference() -> Wheel:
    """Return the actor of the reference, in this environment."""
    return Wheel("lanceref", Path(sys.executable), "pylanceref")
