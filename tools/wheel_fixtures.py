"""What the wheel carries of the fixtures: the core profile, without hexmaps that can be made anew.

Called by hatchling while it builds a wheel, where only the standard library can be imported; which
cases are core is asked of `lance_conformance.profiles`, loaded by its path.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "lance_conformance/fixtures"
"""Where the wheel has them."""


def core(root: Path) -> Iterator[Path]:
    """Yield the folders of the core cases of a repository."""
    profiles = _profiles(root)
    for path in sorted((root / "fixtures").rglob("case.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if profiles.is_active(manifest) and profiles.is_core(manifest):
            yield path.parent


def carried(root: Path) -> Iterator[Path]:
    """Yield every file of the fixtures that a wheel has."""
    yield root / "fixtures" / "SUITE.json"
    yield root / "fixtures" / "README.md"
    for folder in core(root):
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        yield from (path for path in files if path.suffix != ".hexmap")


class CoreFixtures(BuildHookInterface[Any]):
    """Puts the core cases and `SUITE.json` into a wheel; an editable one finds the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name what is to be included."""
        if version == "editable":
            return
        root = Path(self.root)
        fixtures = root / "fixtures"
        for path in carried(root):
            inside = path.relative_to(fixtures).as_posix()
            build_data["force_include"][str(path)] = f"{TARGET}/{inside}"


def _profiles(root: Path) -> ModuleType:
    path = root / "conformance" / "lance_conformance" / "profiles.py"
    spec = importlib.util.spec_from_file_location("profiles", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
