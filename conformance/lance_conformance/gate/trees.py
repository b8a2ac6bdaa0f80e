"""Trees: the two states of a repository that a gate compares.

A tree is a folder, or a revision of the git repository one stands in. It may have less than this
repository has: with nothing but `.proto` files, only they are compared.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

_PARTS = ("protos", "spec", "fixtures", "reference", "conformance", "tools")
"""Folders that are taken out of a revision."""


class NoTree(Exception):
    """What was named is neither a folder nor a revision."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One state: `name` as the user wrote it, and the folder where it lies."""

    name: str
    root: Path

    @property
    def protos(self) -> Path | None:
        """Folder of the message definitions: `protos`, or the tree itself."""
        return next((f for f in (self.root / "protos", self.root) if any(f.glob("*.proto"))), None)

    @property
    def register(self) -> Path | None:
        """File of the clauses."""
        return _existing(self.root / "spec" / "register.json")

    @property
    def chapters(self) -> list[Path]:
        """Pages of the specification."""
        return sorted((self.root / "spec").glob("*.md"))

    @property
    def fixtures(self) -> Path | None:
        """Folder of the cases."""
        suite = _existing(self.root / "fixtures" / "SUITE.json")
        return suite.parent if suite else None

    @property
    def packages(self) -> tuple[Path, Path] | None:
        """Import folders of the reference and of the suite."""
        folders = (self.root / "reference", self.root / "conformance")
        wanted = (folders[0] / "lanceref", folders[1] / "lance_conformance")
        return folders if all(folder.is_dir() for folder in wanted) else None


@contextmanager
def opened(name: str) -> Iterator[Tree]:
    """Give the tree of a folder or revision. Raises NoTree.

    A revision is unpacked into a scratch folder that lives as long as the context.
    """
    if Path(name).is_dir():
        yield Tree(name, Path(name).absolute())
        return
    with tempfile.TemporaryDirectory(prefix="lance-gate-") as folder:
        _unpack(name, Path(folder))
        yield Tree(name, Path(folder))


def _unpack(revision: str, target: Path) -> None:
    listed = _git("ls-tree", "--full-tree", "--name-only", revision)
    parts = [part for part in _PARTS if part in listed.decode().splitlines()]
    archive = _git("archive", "--format=tar", f"{revision}:", *parts)
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise NoTree(f"neither a folder nor a revision of git: {message}")
    return done.stdout


def _existing(path: Path) -> Path | None:
    return path if path.is_file() else None
