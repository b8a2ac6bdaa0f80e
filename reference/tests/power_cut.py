"""Power cut: what is left of a folder when only what was flushed to the disk outlives it.

`PowerCut` looks on while files are written. A file outlives the cut with the bytes it had at its
last `fsync`, empty without one; a name outlives it if its folder was flushed since. When a manifest
gets its name, `snapshots` takes what the disk would hold without the name, and with it, because it
may be on the disk already; `unsettled` takes the files that would be lost. The last snapshot is
what the disk holds at the end.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

Names = dict[str, tuple[int, bool]]
"""Numbers of files by their names, and whether each is a folder."""


class PowerCut:
    """Looks on what is written below a folder, whose content at first is on the disk."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder, self._scratch = folder, scratch
        self._bytes: dict[int, bytes] = {}
        self._names: dict[int, Names] = {}
        self._paths: dict[int, Path] = {}
        self._held: list[int] = []
        self.snapshots: list[Path] = []
        self.unsettled: list[str] = []
        for one in (folder, *folder.rglob("*")):
            self._settle(one)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look on until the block ends; the numbers of the files stay theirs meanwhile."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("open", "fsync", "rename", "link"):
                patch.setattr(os, name, getattr(self, f"_{name}")(getattr(os, name)))
            yield
        self.snapshots.append(self._snapshot())
        while self._held:
            os.close(self._held.pop())

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def opened(path: object, *arguments: object, **named: object) -> int:
            handle = real(path, *arguments, **named)
            self._paths[handle] = Path(path)  # type: ignore[arg-type]
            return handle

        self._really_open = real
        return opened

    def _fsync(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def flushed(handle: int) -> None:
            real(handle)
            path = self._paths[handle]
            if path.is_relative_to(self.folder):
                self._settle(path)

        return flushed

    def _rename(self, real: Callable[..., None]) -> Callable[..., None]:
        def renamed(source: Path, target: Path) -> None:
            real(source, target)
            self._look(Path(target))

        return renamed

    _link = _rename

    def _settle(self, path: Path) -> None:
        """A file or folder is on the disk as it is now."""
        number = path.stat().st_ino
        self._held.append(getattr(self, "_really_open", os.open)(path, os.O_RDONLY))
        if path.is_dir():
            self._names[number] = _names(path)
        else:
            self._bytes[number] = path.read_bytes()

    def _look(self, given: Path) -> None:
        """Take what would be left, when a manifest was given its name."""
        if given.suffix == ".manifest":
            self.snapshots.append(self._snapshot())
            kept = self._snapshot(given)
            self.snapshots.append(kept)
            self.unsettled += [one for one in _files(self.folder) if not _same(one, self, kept)]

    def _snapshot(self, given: Path | None = None) -> Path:
        """Write what would be left into a new folder; `given` outlives the cut anyway."""
        names = {number: dict(held) for number, held in self._names.items()}
        while given is not None and given != self.folder:
            found = given.stat().st_ino, given.is_dir()
            names.setdefault(given.parent.stat().st_ino, {})[given.name] = found
            given = given.parent
        target = self._scratch / f"cut{len(self.snapshots)}"
        self._write(names, self.folder.stat().st_ino, target)
        return target

    def _write(self, names: dict[int, Names], number: int, target: Path) -> None:
        target.mkdir(parents=True)
        for name, (held, is_folder) in names.get(number, {}).items():
            if is_folder:
                self._write(names, held, target / name)
            else:
                (target / name).write_bytes(self._bytes.get(held, b""))


def _names(folder: Path) -> Names:
    with os.scandir(folder) as entries:
        return {one.name: (one.inode(), one.is_dir()) for one in entries}


def _files(folder: Path) -> list[str]:
    """Return the files below a folder that have their names, by path."""
    found = (one for one in folder.rglob("*") if one.is_file() and not one.name.startswith(".tmp"))
    return sorted(one.relative_to(folder).as_posix() for one in found)


def _same(path: str, cut: PowerCut, left: Path) -> bool:
    """Whether a file outlives a cut as it is."""
    copy = left / path
    return copy.is_file() and copy.read_bytes() == (cut.folder / path).read_bytes()
