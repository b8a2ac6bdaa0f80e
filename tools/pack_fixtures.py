"""Packing: bring new case folders into the layout that fixtures/README.md describes.

    python tools/pack_fixtures.py

Cases come out of recipes as plain folders. A file case that is no negative stays plain; the files
of a table, and what is large of a case without a data file, go into `files.zip`; a negative keeps
its manifest and the edits of its parent's files, where these are shorter than the file; what
another case, or the case under another name, has already is taken from there. Packed and
shared cases are left alone, and a case whose files would come out otherwise is an error.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from lance_conformance.recipes.apply_change import trim
from lance_conformance.recipes.model import DATA
from lance_conformance.suite import case_storage, suite_file
from lance_conformance.suite.case_storage import ARCHIVE, MANIFEST, STORED_KEY
from lance_conformance.suite.hexmap import HEXMAP_SUFFIX, build_hexmap
from sources import ROOT

FIXTURES = ROOT / "fixtures"
SHARED_BYTES = 200
"""Smaller files of a table are kept with it, though another case may have the same."""

LARGE_BYTES = 16 * 1024
"""Expected tables of so many bytes go into the archive, but for those of data files."""

MAX_DIFF_BYTES = 4096
"""Longest changed range in which the bytes that both files share are looked for."""

Holders = dict[str, set[str]]
"""Ids of the cases that keep a file, by its SHA-256."""


def pack(root: Path) -> list[str]:
    """Pack every case below `root` that is stored plainly; return the ids of those changed."""
    holders: Holders = defaultdict(set)
    manifests = [json.loads(path.read_text("utf-8")) for path in sorted(root.rglob(MANIFEST))]
    sources = {one for case in manifests for one in case.get(STORED_KEY, {}).get("from", [])}
    plain = []
    for case in sorted(manifests, key=lambda case: "patch" in case):
        if STORED_KEY in case or case["id"] in sources or (root / case["id"] / ARCHIVE).exists():
            _register(root / case["id"], case["id"], holders)
        else:
            plain.append(case)
    return [case["id"] for case in plain if _pack(root, case, holders)]


def _pack(root: Path, case: dict[str, Any], holders: Holders) -> bool:
    home = root / case["id"]
    files, before = case_storage.own_files(home), case_storage.read_case(home)
    files.pop(MANIFEST)
    hexmap_name = f"{DATA}{HEXMAP_SUFFIX}"
    if files.get(hexmap_name) == build_hexmap(files.get(DATA, b"")).encode():
        del files[hexmap_name], before[hexmap_name]
    layout = _layout(root, case, files, holders)
    _store(home, case, files, layout)
    if case_storage.read_case(home) != before:
        raise ValueError(f"{case['id']}: the packed case is not what it was")
    _register(home, case["id"], holders)
    return bool(layout) or (home / ARCHIVE).exists()


def _layout(
    root: Path, case: dict[str, Any], files: dict[str, bytes], holders: Holders
) -> dict[str, Any]:
    """Take out of `files` what others keep, and return how it is found."""
    sources: list[str] = []
    edits: list[dict[str, object]] = []
    listed = case_storage.listed_hashes(case)
    parent = (
        case_storage.read_case(root / case["provenance"]["derived_from"]) if "patch" in case else {}
    )
    for name, digest in listed.items():
        small = len(files[name]) < SHARED_BYTES and not name.endswith(".arrow")
        plain = name == DATA or small
        if digest in holders and (parent or not plain):
            _take(digest, holders, sources)
            del files[name]
        elif name in parent:
            changes = _changes(parent[name], files[name])
            if len(json.dumps(changes)) > len(files[name]):
                continue
            of = hashlib.sha256(parent[name]).hexdigest()
            _take(of, holders, sources)
            edits.append({"file": name, "of": of, "changes": changes})
            del files[name]
    edits += _inputs(files.keys() - listed.keys(), files, holders, sources)
    return {"from": sources, **({"edits": edits} if edits else {})} if sources or edits else {}


def _inputs(
    names: Iterable[str], files: dict[str, bytes], holders: Holders, sources: list[str]
) -> Iterator[dict[str, object]]:
    """Take rows of steps that are kept already out of `files`, and yield what each is equal to."""
    for name in sorted(names):
        of = hashlib.sha256(files[name]).hexdigest()
        own = any(data == files[name] for other, data in files.items() if other != name)
        if len(files[name]) < SHARED_BYTES or not (own or of in holders):
            continue
        if not own:
            _take(of, holders, sources)
        del files[name]
        yield {"file": name, "of": of, "changes": []}


def _take(digest: str, holders: Holders, sources: list[str]) -> None:
    if not holders[digest] & set(sources):
        sources.append(min(holders[digest]))


def _changes(was: bytes, now: bytes) -> list[dict[str, object]]:
    """Return the ranges of `was` that are replaced, in order."""
    at, old, new = trim(was, now)
    if len(old) == len(new) > MAX_DIFF_BYTES or max(len(old), len(new)) <= MAX_DIFF_BYTES:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    else:
        blocks = [("replace", 0, len(old), 0, len(new))]
    return [
        {"at": at + start, "remove": end - start, "insert": new[first:last].hex()}
        for tag, start, end, first, last in blocks
        if tag != "equal"
    ]


def _store(
    home: Path, case: dict[str, Any], files: dict[str, bytes], layout: dict[str, Any]
) -> None:
    """Write the folder of a case: its manifest, and the files that only it has."""
    folders = sorted((path for path in home.rglob("*") if path.is_dir()), reverse=True)
    for path in home.rglob("*"):
        if path.is_file():
            path.unlink()
    for folder in folders:
        folder.rmdir()
    if layout:
        case = {**case, STORED_KEY: layout}
    (home / MANIFEST).write_text(suite_file.canonical_text(case), encoding="utf-8")
    is_table = any("/" in name for name in files)
    packed = sorted(
        name
        for name, data in files.items()
        if is_table or (DATA not in files and len(data) >= LARGE_BYTES)
    )
    for name in files.keys() - {*packed}:
        (home / name).write_bytes(files[name])
    if not packed:
        return
    with zipfile.ZipFile(home / ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in packed:
            info = zipfile.ZipInfo(name)  # dated 1980, so that the same files give the same bytes
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name])


def _register(home: Path, case_id: str, holders: Holders) -> None:
    for name, data in case_storage.own_files(home).items():
        if name != MANIFEST:
            holders[hashlib.sha256(data).hexdigest()].add(case_id)


if __name__ == "__main__":
    print(f"packed {len(pack(FIXTURES))} cases")
    sys.exit(0)
