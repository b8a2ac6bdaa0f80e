"""Hostile references: tags and branches whose names lead elsewhere, or that are no references."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from urllib.parse import quote

from lance_conformance.campaigns.damage.whole.fields import NAMES, OUTSIDE, size_of
from lance_conformance.campaigns.damage.whole.manifest_file import ManifestFile, latest

UP = (f"../{OUTSIDE}", OUTSIDE, f"side/../../{OUTSIDE}", f"./../{OUTSIDE}", f"a/../../{OUTSIDE}")
"""Names of branches that lead to the victim, from below the root or below `tree`."""

BRANCH: dict[str, object] = {
    "parentBranch": None,
    "identifier": {"version_mapping": []},
    "parentVersion": 1,
    "createAt": 1,
    "manifestSize": 1,
    "metadata": {},
}

TAG: dict[str, object] = {"branch": None, "version": 1, "manifestSize": 1, "metadata": {}}

_STRANGE: tuple[object, ...] = (
    *(None, True, -1, 0, 1.5, 2**63, 2**64, 10**400, "", "x", [], [[]], {}, [1], {"a": 1}),
    *([[1, 2, 3]], [[1, None]], [["x", 1]], "2020-13-45", "0001-01-01T00:00:00-23:59"),
)


def wandering_tag(root: Path, rng: Random) -> str:
    """Write a tag of a branch that is not one of the table."""
    name = rng.choice((*UP, *UP, *NAMES, str(root.parent / "outside" / "victim")))
    (root / "tree").mkdir(exist_ok=True)
    _put(root, "tags", "stable", {**TAG, "branch": name, "version": rng.choice((1, 1, 2, 2**64))})
    return repr(name)[:60]


def wandering_branch(root: Path, rng: Random) -> str:
    """Write a branch under a name that leads out of the table, encoded in some way."""
    name = rng.choice((*UP, *UP, *[one for one in NAMES if one]))
    encode = rng.choice((_whole, _dots_too, _half))
    (root / "tree").mkdir(exist_ok=True)
    _put(root, "branches", encode(name)[:240], {**BRANCH, "parentBranch": rng.choice((None, name))})
    return repr(name)[:60]


def _whole(name: str) -> str:
    return quote(name, safe="")


def _dots_too(name: str) -> str:
    return quote(name, safe="").replace(".", "%2E")


def _half(name: str) -> str:
    return name.replace("/", "%2F").replace("\0", "%00")


def strange_reference(root: Path, rng: Random) -> str:
    """Write a tag or branch with a value of another type, or no object at all."""
    folder, held = rng.choice((("tags", dict(TAG)), ("branches", dict(BRANCH))))
    key = rng.choice([*held, "createdAt", "updatedAt", "version_mapping"])
    value = rng.choice(_STRANGE)
    if key == "version_mapping":
        held["identifier"] = {key: value}
    else:
        held[key] = value
    _put(root, folder, "strange", held)
    return f"{folder} {key} = {value!r:.40}"


def no_json(root: Path, rng: Random) -> str:
    """Write a tag, branch or hint that is no JSON, or JSON that costs more than it should."""
    size = size_of(rng, 10, 200_000)
    texts = (
        b"", b"\xff\xfe", b"nul", b"[" * size, b'{"a":' * size, b'{"version":' + b"9" * size + b"}",
        b'{"version":1e999}', b'{"branch":"\\ud800","version":1}', b'{"version":NaN}',
        b'"' + b"x" * size * 10 + b'"', b'{"version":1,"version":2}', b" " * size * 10 + b"{}",
        b"\0" * size, b'{"branch":"\\u0000","version":1}',
        b'{"metadata":{' + b'"k":"v",' * size + b'"k":"v"},"version":1}',
    )  # fmt: skip
    number = rng.randrange(len(texts))
    names = ("_refs/tags/x.json", "_refs/branches/x.json", "_versions/latest_version_hint.json")
    path = root / rng.choice(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(texts[number])
    return f"{path.name} text {number} of {size}"


def many_references(root: Path, rng: Random) -> str:
    """Write very many tags or branches, each the parent of the next one."""
    count = size_of(rng, 10, 1000)
    folder = rng.choice(("tags", "branches"))
    for number in range(count):
        before = f"b{(number - 1) % count}"
        held = {**BRANCH, "parentBranch": before} if folder == "branches" else TAG
        _put(root, folder, f"b{number}", held)
    return f"{count} {folder}"


def strange_branch(root: Path, rng: Random) -> str:
    """Make a branch of a copy of the manifest that says it is another branch."""
    file = ManifestFile.load(latest(root))
    file.message.branch = rng.choice((*UP, *NAMES, "self", "other"))
    for fragment in file.message.fragments:
        for one in fragment.files:
            if rng.random() < 0.5:
                one.base_id = rng.choice((0, 1, 7))
    file.message.base_paths.add(id=1, path=rng.choice(("..", "../..", str(root), "")))
    folder = root / "tree" / "self" / "_versions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / latest(root).name).write_bytes(file.encode())
    _put(root, "branches", "self", {**BRANCH, "parentBranch": rng.choice((None, "self", "other"))})
    return repr(file.message.branch)[:60]


def _put(root: Path, folder: str, name: str, held: object) -> None:
    path = root / "_refs" / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(held), encoding="utf-8")
