"""What the wheel carries of the fixtures: the core profile, without hexmaps that can be made anew.

Called by hatchling while it builds a wheel, where only the standard library can be imported; which
cases are core, and what `SUITE.json` of a subset holds, is defined in `lance_conformance.profiles`
and `lance_conformance.subset`, loaded by their paths.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "lance_conformance/fixtures"
"""Where the wheel has them."""


def core(root: Path) -> Iterator[Path]:
    """Yield the folders of the core cases of a repository."""
    profiles = _module(root, "profiles")
    for path in sorted((root / "fixtures").rglob("case.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if profiles.is_active(manifest) and profiles.is_core(manifest):
            yield path.parent


def carried(root: Path) -> Iterator[Path]:
    """Yield every file of the fixtures that a wheel has as it is."""
    yield root / "fixtures" / "README.md"
    for folder in core(root):
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        yield from (path for path in files if path.suffix != ".hexmap")


def suite(root: Path) -> str:
    """Return the text of the wheel's `SUITE.json`, which says that it is of a subset."""
    fixtures = root / "fixtures"
    paths = sorted(fixtures.rglob("case.json"))
    manifests = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    counts = _module(root, "profiles").counts(manifests)
    ids = (folder.relative_to(fixtures).as_posix() for folder in core(root))
    stored = json.loads((fixtures / "SUITE.json").read_text(encoding="utf-8"))
    document = _module(root, "subset").document(stored, ids, counts)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


class CoreFixtures(BuildHookInterface[Any]):
    """Puts the core cases and `SUITE.json` into a wheel; an editable one finds the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name what is to be included."""
        if version == "editable":
            return
        root = Path(self.root)
        fixtures = root / "fixtures"
        self._scratch = tempfile.TemporaryDirectory()
        path = Path(self._scratch.name, "SUITE.json")
        path.write_text(suite(root), encoding="utf-8")
        build_data["force_include"][str(path)] = f"{TARGET}/SUITE.json"
        for path in carried(root):
            inside = path.relative_to(fixtures).as_posix()
            build_data["force_include"][str(path)] = f"{TARGET}/{inside}"


def _module(root: Path, name: str) -> ModuleType:
    path = root / "conformance" / "lance_conformance" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"_wheel_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module
