"""Storage of cases: how the fixtures store the files of a case, and how a plain folder is made.

The files of a case are in its folder or in `files.zip`. Files in neither are described by the
member `stored` of the manifest: `from` names the cases that contain them, by SHA-256, and `edits`
describes how a file is derived from another one, or equals one that the manifest lists without a
SHA-256. fixtures/README.md describes the layout. Case folders may be hostile: no name leads out of
the folder of the case or of the fixtures, links are not followed, and a case has at most
`MAX_CASE_BYTES`, counted before its files are written.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from lance_conformance import resources, schemas
from lance_conformance.command_error import CommandError

MANIFEST = "case.json"
STORED_KEY = "stored"
"""Member of a manifest that locates the files; a materialised manifest does not have it."""

DATA_FILE = "data.lance"
"""Name of the input of a file case."""

ARCHIVE = "files.zip"
"""Archive of the files of a case that are not in its folder."""

MAX_CASE_BYTES = 64 * 2**20
"""Maximum size of a case, a bound on hostile archives and edits."""


class LayoutError(CommandError):
    """The files of a case cannot be assembled as its manifest describes."""


def materialise(path: Path) -> Path:
    """Return a path below a case folder as a plain file or folder, possibly in a cache.

    `path` is returned unchanged when it exists or when no folder above it is a case. Raises
    LayoutError when the manifest is not valid or the case cannot be assembled.
    """
    for home in (path, *path.parents):
        if (home / MANIFEST).is_file():
            if path not in (home, home / MANIFEST) and path.exists():
                return path
            for problem in schemas.problems("case", _read_manifest(home)):
                raise LayoutError(f"{home / MANIFEST}: {problem}")
            return case_folder(home) / path.relative_to(home)
    return path


def case_folder(home: Path, *, manifest: bool = True) -> Path:
    """Return the folder with every file of the case at `home`.

    It is `home` itself when the case is stored as plain files or has no manifest, else a folder
    that is removed when this process ends, without the manifest if `manifest=False`. Raises
    LayoutError when the case cannot be assembled.
    """
    plain = not (home / ARCHIVE).is_file()
    if plain and not ((home / MANIFEST).is_file() and STORED_KEY in _read_manifest(home)):
        return home
    return _materialise(home.resolve(), manifest=manifest)


@cache
def _materialise(home: Path, *, manifest: bool) -> Path:
    files = read_case(home) if manifest else _data_files(home, _read_manifest(home))
    if not manifest:
        files.pop(MANIFEST)
    folder = Path(tempfile.mkdtemp(dir=resources.cache_root()))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def read_case(home: Path) -> dict[str, bytes]:
    """Return every file of the case at `home` by name, with the manifest without `stored`.

    The manifest must be valid. Raises LayoutError when the case cannot be assembled.
    """
    manifest = _read_manifest(home)
    files = _data_files(home, manifest)
    files[MANIFEST] = manifest_text(manifest).encode()
    return files


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return the text of a manifest without `stored`, indented by two: the text that is hashed."""
    members = {key: value for key, value in manifest.items() if key != STORED_KEY}
    return json.dumps(members, indent=2, ensure_ascii=False) + "\n"


def _data_files(home: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a case, with the stored form of its manifest."""
    layout = manifest.get(STORED_KEY, {})
    files = dict(own_files(home))
    contents = {_sha256(data): data for data in files.values()}
    root = home.resolve().parents[str(manifest["id"]).count("/")]
    for other in layout.get("from", []):
        contents |= _contents_by_hash(_case_folder_below(root, other))
        _check_size(home, contents)
    hashes = listed_hashes(manifest)
    for edit in layout.get("edits", []):
        edited = _apply_edit(_content(contents, edit["of"], edit["file"], home), edit, home)
        if hashes.setdefault(edit["file"], edit["of"]) != _sha256(edited):
            raise LayoutError(f"{home}: {edit['file']}: the edited bytes have another hash")
        contents[_sha256(edited)] = edited
        _check_size(home, contents)
    for name, digest in hashes.items():
        if name not in files and layout:
            files[_safe_name(name)] = _content(contents, digest, name, home)
    _check_size(home, files)
    _check_folders(home, files)
    return files


def listed_hashes(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file that a manifest lists, by its name in the case folder."""
    case_input = manifest["input"]
    hashes = (
        {case_input["path"]: case_input["sha256"]}
        if case_input.keys() >= {"path", "sha256"}
        else {}
    )
    hashes |= {
        f"{case_input['uri']}/{name}": one for name, one in case_input.get("files", {}).items()
    }
    tables = (expected["table"] for expected in manifest["expect"] if "table" in expected)
    return hashes | {one["path"]: one["sha256"] for one in tables if "sha256" in one}


def own_files(home: Path) -> dict[str, bytes]:
    """Return the files in the folder of a case and in its archive by name, without links.

    Raises LayoutError for an archive with an unsafe name, or too many bytes.
    """
    files = {path.relative_to(home).as_posix(): path for path in _regular_files(home)}
    pack = files.pop(ARCHIVE, None)
    _check_bytes(home, sum(path.stat().st_size for path in files.values()))
    packed = dict(_archived_files(pack)) if pack is not None else {}
    return {**packed, **{name: path.read_bytes() for name, path in files.items()}}


def _regular_files(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _regular_files(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _archived_files(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as pack:
            members = [one for one in pack.infolist() if not one.is_dir()]
            _check_bytes(path, sum(one.file_size for one in members))
            for one in members:
                yield _safe_name(one.filename), pack.read(one)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise LayoutError(f"{path}: not an archive of a case: {error}") from error


@lru_cache(maxsize=16)
def _contents_by_hash(home: Path) -> dict[str, bytes]:
    """Return the stored files of another case by SHA-256."""
    if not home.is_dir():
        raise LayoutError(f"no case {home} to take files from")
    return {_sha256(data): data for data in own_files(home).values()}


def _content(contents: Mapping[str, bytes], digest: str, name: str, home: Path) -> bytes:
    if digest not in contents:
        raise LayoutError(f"{home}: {name}: no case of `from` has {digest}")
    return contents[digest]


def _apply_edit(data: bytes, edit: Mapping[str, Any], home: Path) -> bytes:
    """Return `data` with the changes of an edit, whose offsets refer to the original."""
    parts, done = [], 0
    for change in edit["changes"]:
        at, end = change["at"], change["at"] + change["remove"]
        if not done <= at <= end <= len(data):
            raise LayoutError(f"{home}: {edit['file']}: {at} to {end} is not in order")
        parts += [data[done:at], bytes.fromhex(change["insert"])]
        done = end
    return b"".join([*parts, data[done:]])


def _check_size(home: Path, files: Mapping[str, bytes]) -> None:
    """Raise LayoutError where files exceed the maximum size of a case."""
    _check_bytes(home, sum(map(len, files.values())))


def _check_bytes(place: Path, size: int) -> None:
    if size > MAX_CASE_BYTES:
        raise LayoutError(f"{place}: {size} bytes, more than {MAX_CASE_BYTES}")


def _check_folders(home: Path, files: Mapping[str, bytes]) -> None:
    """Raise LayoutError where one name is a file and a folder."""
    for name in files:
        for parent in map(str, PurePosixPath(name).parents):
            if parent in files:
                raise LayoutError(f"{home}: {parent} is a file and a folder")


def _case_folder_below(root: Path, name: str) -> Path:
    """Return a case folder that is below the resolved fixtures. Raises LayoutError."""
    folder = root / _safe_name(name)
    if not folder.resolve().is_relative_to(root):
        raise LayoutError(f"{name} is not below {root}")
    return folder


def _safe_name(name: str) -> str:
    """Return a relative name that stays in its folder. Raises LayoutError for any other."""
    path = PurePosixPath(name)
    bad = path.is_absolute() or not path.parts or ".." in path.parts
    if bad or any(character in name for character in "\\:\0"):
        raise LayoutError(f"{name!r} is not a name inside a case folder")
    return name


def _read_manifest(home: Path) -> dict[str, Any]:
    try:
        document = json.loads((home / MANIFEST).read_text("utf-8"))
    except ValueError as error:
        raise LayoutError(f"{home / MANIFEST}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise LayoutError(f"{home / MANIFEST}: not an object")
    return document


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
