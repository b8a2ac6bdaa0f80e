"""The fixtures in the wheel: all of them, as one compressed archive of the folder.

Called by hatchling while it builds a wheel, where only the standard library can be imported.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "lance_conformance/fixtures.tar.xz"
"""Name of the archive in the wheel."""


def write_archive(fixtures: Path, target: Path) -> None:
    """Write the files below `fixtures` to `target`; the same files give the same bytes."""
    with tarfile.open(target, "w:xz") as tar:
        for path in sorted(path for path in fixtures.rglob("*") if path.is_file()):
            data = _stored(path) if path.suffix == ".zip" else path.read_bytes()
            member = tarfile.TarInfo(path.relative_to(fixtures).as_posix())
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def _stored(path: Path) -> bytes:
    """Return a zip archive without its compression, which would hide what cases share."""
    plain = io.BytesIO()
    with zipfile.ZipFile(path) as pack, zipfile.ZipFile(plain, "w") as out:
        for one in pack.infolist():
            out.writestr(zipfile.ZipInfo(one.filename), pack.read(one))
    return plain.getvalue()


class Fixtures(BuildHookInterface[Any]):
    """Puts the fixtures into a wheel; an editable installation finds those of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive and name it as a file of the wheel."""
        if version == "editable":
            return
        self._scratch = tempfile.TemporaryDirectory()
        path = Path(self._scratch.name, "fixtures.tar.xz")
        write_archive(Path(self.root, "fixtures"), path)
        build_data["force_include"][str(path)] = TARGET
