"""Trees: the two states of a repository that a gate compares.

A tree is a revision of the git repository of the working directory, or a folder. A name is a folder
only when it begins with `./`, `../` or `/`: files of a pull request must not change the meaning of
a name. A tree may be partial: with only `.proto` files, only these are compared.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_UNPACKED = ("protos", "spec", "fixtures", "reference", "conformance", "tools")
"""Folders of a revision that are unpacked, in addition to the pages at its root."""

_COMPARED = ("protos", "spec", "fixtures")
"""Folders that are compared: a symbolic link in them could lead into the other tree."""

_FILE_MODES = ("100644", "100755")
"""Modes of regular files in git; others are symbolic links and submodules."""


class TreeError(Exception):
    """A name is neither a folder nor a revision, or its tree cannot be compared."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree: its `name` in the report, its folder, and the `commit` of a revision."""

    name: str
    root: Path
    commit: str = ""

    @property
    def protos(self) -> Path | None:
        """Folder of the message definitions: `protos`, or the tree itself."""
        return next((f for f in (self.root / "protos", self.root) if any(f.glob("*.proto"))), None)

    @property
    def register(self) -> Path | None:
        """File of the clauses."""
        return _file_or_none(self.root / "spec" / "register.json")

    @property
    def chapters(self) -> list[Path]:
        """Pages of the specification."""
        return sorted((self.root / "spec").glob("*.md"))

    @property
    def fixtures(self) -> Path | None:
        """Folder of the cases."""
        suite = _file_or_none(self.root / "fixtures" / "SUITE.json")
        return suite.parent if suite else None

    @property
    def packages(self) -> tuple[Path, Path] | None:
        """Import folders of the reference and of the suite."""
        folders = (self.root / "reference", self.root / "conformance")
        packages = (folders[0] / "lanceref", folders[1] / "lance_conformance")
        return folders if all(folder.is_dir() for folder in packages) else None


@contextmanager
def open_tree(name: str) -> Iterator[Tree]:
    """Provide the tree of a revision, or of a folder `./x`, `../x` or `/x`. Raises TreeError.

    A revision is unpacked into a scratch folder for the duration of the context.
    """
    if name in (".", "..") or name.startswith(("./", "../", "/")):
        root = Path(name).absolute()
        if not root.is_dir():
            raise TreeError(f"no such folder: {name}")
        _refuse_links(root)
        yield Tree(name, root)
        return
    commit = _commit_id(name)
    with tempfile.TemporaryDirectory(prefix="lance-gate-") as folder:
        _unpack(commit, Path(folder))
        yield Tree(f"{name} ({commit[:12]})", Path(folder), commit)


def is_same(base: Tree, head: Tree) -> bool:
    """Whether both trees are one commit or one folder."""
    if base.commit or head.commit:
        return base.commit == head.commit
    return base.root.resolve() == head.root.resolve()


def _commit_id(name: str) -> str:
    """Return the commit id of a name. Raises TreeError."""
    shown = f"{name[:80]!r}"
    options = ["-c", "core.warnAmbiguousRefs=true"]
    done = _git(*options, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    message = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        hint = f"; write ./{name} for the folder" if Path(name).is_dir() else ""
        raise TreeError(f"{shown} is not a revision of git{hint}: {message.strip()}")
    if "ambiguous" in message:
        raise TreeError(
            f"{shown} names several refs: write it as refs/remotes/..., or as a commit id"
        )
    return done.stdout.decode().strip()


def _unpack(commit: str, target: Path) -> None:
    """Write the stored files of a commit, without applying git attributes."""
    files = dict(_listed(commit))
    ids = "".join(f"{blob}\n" for blob in files.values()).encode()
    blobs = memoryview(_git_output(_git("cat-file", "--batch", stdin=ids)))
    start = 0
    for path in files:
        line_end = start + bytes(blobs[start : start + 100]).index(b"\n")
        size = int(bytes(blobs[start:line_end]).split()[2])
        _write(target / path, blobs[line_end + 1 : line_end + 1 + size], path)
        start = line_end + 1 + size + 1


def _listed(commit: str) -> Iterator[tuple[str, str]]:
    """Yield path and blob of the unpacked files of a commit. Raises TreeError."""
    listed = _git_output(_git("ls-tree", "--full-tree", "-r", "-z", commit))
    for line in listed.split(b"\0")[:-1]:
        entry, _, name = line.partition(b"\t")
        mode, _, blob = entry.decode().split()
        path = os.fsdecode(name)
        parts = path.split("/")
        if parts[0] not in _UNPACKED and not (len(parts) == 1 and path.endswith(".md")):
            continue
        if mode not in _FILE_MODES:
            raise TreeError(f"{path!r} in {commit[:12]} is a symbolic link or a submodule")
        if any(part in ("", ".", "..") for part in parts):
            raise TreeError(f"{path!r} in {commit[:12]} leads out of its tree")
        yield path, blob


def _write(path: Path, data: memoryview, name: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as out:
            out.write(data)
    except OSError as error:
        raise TreeError(f"{name!r} cannot be unpacked: {error.strerror}") from error


def _refuse_links(root: Path) -> None:
    """Raise TreeError for a symbolic link among the compared files."""
    links = [path for path in root.glob("*.proto") if path.is_symlink()]
    for part in _COMPARED:
        links += [root / part] if (root / part).is_symlink() else []
        for folder, folders, files in os.walk(root / part):
            paths = (Path(folder, name) for name in (*folders, *files))
            links += [path for path in paths if path.is_symlink()]
    if links:
        raise TreeError(f"{str(links[0])!r} is a symbolic link")


def _git(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        ["git", *arguments], input=stdin, env=environment, capture_output=True, check=False
    )


def _git_output(done: subprocess.CompletedProcess[bytes]) -> bytes:
    if done.returncode != 0:
        raise TreeError(f"git failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _file_or_none(path: Path) -> Path | None:
    return path if path.is_file() else None
