"""Stored cases: how the fixtures keep the files of a case, and the plain folder that they make.

A case folder has its files beside `case.json` or in `files.zip`. What is missing is described by
the member `stored` of the manifest: `from` names the cases that have it, by its SHA-256, and
`edits` says how a file was made from another one, or that it is equal to one, for files that the
manifest lists without a SHA-256. fixtures/README.md describes the layout. Case
folders may be hostile: no name leads out of the folder of the case or of the fixtures, links are
not followed, and a case has at most `MAX_CASE_BYTES`, counted before its files are written.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from lance_conformance import schemas
from lance_conformance.failures import Failure

MANIFEST = "case.json"
KEY = "stored"
"""Member of a manifest that says where the files are; a materialised manifest is without it."""

PACK = "files.zip"
"""Archive of the files of a case that are not beside its manifest."""

MAX_CASE_BYTES = 64 * 2**20
"""Most bytes that a case has, as a bound on hostile archives and edits."""


class StoredError(Failure):
    """The files of a case cannot be put together as its manifest says."""


def materialised(path: Path) -> Path:
    """Return a path below a case folder as a plain file or folder, which may be elsewhere.

    `path` is returned as it is when it exists or when no folder above it is a case. Raises
    StoredError when the manifest is not valid or the case cannot be put together.
    """
    for home in (path, *path.parents):
        if (home / MANIFEST).is_file():
            if path not in (home, home / MANIFEST) and path.exists():
                return path
            for problem in schemas.problems("case", _document(home)):
                raise StoredError(f"{home / MANIFEST}: {problem}")
            return case_folder(home) / path.relative_to(home)
    return path


def case_folder(home: Path, *, manifest: bool = True) -> Path:
    """Return the folder with every file of the case at `home`.

    It is `home` itself when the case is stored plainly or has no manifest, else a folder that is
    removed when this process ends; there `manifest=False` leaves the manifest out. Raises
    StoredError when the case cannot be put together.
    """
    plain = not (home / PACK).is_file()
    if plain and not ((home / MANIFEST).is_file() and KEY in _document(home)):
        return home
    return _materialise(home.resolve(), manifest=manifest)


@cache
def _materialise(home: Path, *, manifest: bool) -> Path:
    files = read_case(home) if manifest else _data_files(home, _document(home))
    if not manifest:
        files.pop(MANIFEST)
    folder = Path(tempfile.mkdtemp(dir=cache_root()))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@cache
def cache_root() -> Path:
    """Make the folder of materialised cases; the process that made it removes it at its end."""
    folder, owner = tempfile.mkdtemp(prefix="lance-conformance-cases-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def read_case(home: Path) -> dict[str, bytes]:
    """Return every file of the case at `home` by its name, with the manifest as a copy has it.

    The manifest follows its schema. Raises StoredError when the case cannot be put together.
    """
    manifest = _document(home)
    files = _data_files(home, manifest)
    files[MANIFEST] = text_of(manifest).encode()
    return files


def text_of(manifest: Mapping[str, Any]) -> str:
    """Return the text of a manifest less `stored`, two spaces a level, over which its hash is."""
    kept = {key: value for key, value in manifest.items() if key != KEY}
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def _data_files(home: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a case; its manifest among them is as it is stored."""
    layout = manifest.get(KEY, {})
    files = dict(own_files(home))
    contents = {_sha256(data): data for data in files.values()}
    root = home.resolve().parents[str(manifest["id"]).count("/")]
    for other in layout.get("from", []):
        contents |= _contents(_below(root, other))
        _check_size(home, contents)
    wanted = listed(manifest)
    for edit in layout.get("edits", []):
        made = _edited(_content(contents, edit["of"], edit["file"], home), edit, home)
        if wanted.setdefault(edit["file"], edit["of"]) != _sha256(made):
            raise StoredError(f"{home}: {edit['file']}: the edit makes other bytes")
        contents[_sha256(made)] = made
        _check_size(home, contents)
    for name, digest in wanted.items():
        if name not in files and layout:
            files[_checked(name)] = _content(contents, digest, name, home)
    _check_size(home, files)
    _check_folders(home, files)
    return files


def listed(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file that a manifest lists, by its name in the case folder."""
    given = manifest["input"]
    found = {given["path"]: given["sha256"]} if given.keys() >= {"path", "sha256"} else {}
    found |= {f"{given['uri']}/{name}": one for name, one in given.get("files", {}).items()}
    tables = (expected["table"] for expected in manifest["expect"] if "table" in expected)
    return found | {one["path"]: one["sha256"] for one in tables if "sha256" in one}


def own_files(home: Path) -> dict[str, bytes]:
    """Return the files in the folder of a case and in its archive by name; links are left out.

    Raises StoredError for an archive with an unsafe name, or too many bytes.
    """
    files = {path.relative_to(home).as_posix(): path for path in _regular_files(home)}
    pack = files.pop(PACK, None)
    _check_bytes(home, sum(path.stat().st_size for path in files.values()))
    packed = dict(_packed(pack)) if pack is not None else {}
    return {**packed, **{name: path.read_bytes() for name, path in files.items()}}


def _regular_files(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _regular_files(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as pack:
            members = [one for one in pack.infolist() if not one.is_dir()]
            _check_bytes(path, sum(one.file_size for one in members))
            for one in members:
                yield _checked(one.filename), pack.read(one)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise StoredError(f"{path}: not an archive of a case: {error}") from error


@lru_cache(maxsize=16)
def _contents(home: Path) -> dict[str, bytes]:
    """Return the files that another case keeps by their SHA-256."""
    if not home.is_dir():
        raise StoredError(f"no case {home} to take files from")
    return {_sha256(data): data for data in own_files(home).values()}


def _content(contents: Mapping[str, bytes], digest: str, name: str, home: Path) -> bytes:
    if digest not in contents:
        raise StoredError(f"{home}: {name}: no case of `from` has {digest}")
    return contents[digest]


def _edited(data: bytes, edit: Mapping[str, Any], home: Path) -> bytes:
    """Return `data` with the changes of an edit, whose offsets are those before any change."""
    parts, done = [], 0
    for change in edit["changes"]:
        at, end = change["at"], change["at"] + change["remove"]
        if not done <= at <= end <= len(data):
            raise StoredError(f"{home}: {edit['file']}: {at} to {end} is not in order")
        parts += [data[done:at], bytes.fromhex(change["insert"])]
        done = end
    return b"".join([*parts, data[done:]])


def _check_size(home: Path, files: Mapping[str, bytes]) -> None:
    """Raise StoredError where the contents of files are more than a case may have."""
    _check_bytes(home, sum(map(len, files.values())))


def _check_bytes(place: Path, size: int) -> None:
    if size > MAX_CASE_BYTES:
        raise StoredError(f"{place}: {size} bytes, more than {MAX_CASE_BYTES}")


def _check_folders(home: Path, files: Mapping[str, bytes]) -> None:
    """Raise StoredError where a name is that of a file and of a folder with files."""
    for name in files:
        for parent in map(str, PurePosixPath(name).parents):
            if parent in files:
                raise StoredError(f"{home}: {parent} is a file and a folder")


def _below(root: Path, name: str) -> Path:
    """Return a case folder below the resolved fixtures, which no link leads out of."""
    folder = root / _checked(name)
    if not folder.resolve().is_relative_to(root):
        raise StoredError(f"{name} is not below {root}")
    return folder


def _checked(name: str) -> str:
    """Return a relative name that stays in its folder; raise StoredError for any other."""
    path = PurePosixPath(name)
    bad = path.is_absolute() or not path.parts or ".." in path.parts
    if bad or any(character in name for character in "\\:\0"):
        raise StoredError(f"{name!r} is not a name inside a case folder")
    return name


def _document(home: Path) -> dict[str, Any]:
    try:
        document = json.loads((home / MANIFEST).read_text("utf-8"))
    except ValueError as error:
        raise StoredError(f"{home / MANIFEST}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise StoredError(f"{home / MANIFEST}: not an object")
    return document


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
