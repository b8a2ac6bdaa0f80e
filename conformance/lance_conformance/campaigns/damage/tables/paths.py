"""Hostile paths: a path of the table is not a file, is another file, or leads out of the table.

An attack replaces one file or folder of the table, or it writes tags and branches that are invalid
or whose names lead out of the table.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from random import Random
from urllib.parse import quote

from lanceref_testing.faulty_messages import NAMES, OUTSIDE, size_of

DEVICES = (
    *("/dev/zero", "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/proc/self/mem"),
    *("/proc/self/environ", "/proc/self/pagemap", "/proc/kmsg", "/proc/self/fd/0", "/proc/self"),
)
"""Targets of links that are not regular files."""

FOLDERS = (*("data", "_versions", "_transactions", "_deletions", "_indices", "_refs", "tree"),)

SPARSE_BYTES = 2**40
"""Size of a sparse file."""


def _file(root: Path, rng: Random) -> Path:
    """Return a file; each folder of the table has the same probability."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    folder = rng.choice(sorted({path.relative_to(root).parts[0] for path in files}))
    return rng.choice([path for path in files if path.relative_to(root).parts[0] == folder])


def _folder(root: Path, rng: Random) -> Path:
    return root / rng.choice([name for name in FOLDERS if (root / name).is_dir()])


def _file_or_folder(root: Path, rng: Random) -> Path:
    return rng.choice((_file(root, rng), _folder(root, rng)))


def _description(root: Path, path: Path, detail: str = "") -> str:
    return f"{path.relative_to(root)} {detail}".strip()


def _outside_table(root: Path) -> Path:
    return root.parent / "outside" / "table"


Create = Callable[[Path, Path, Random], object]
"""Creates something at an unused path below a root."""


def _create_link(target: Callable[[Path, Path, Random], str]) -> Create:
    return lambda root, path, rng: path.symlink_to(target(root, path, rng))


def _outside_file(root: Path, path: Path, rng: Random) -> str:
    """Return a file of the outside table in the same folder as a file of the table."""
    files = sorted(_outside_table(root).glob(f"{path.relative_to(root).parts[0]}/*"))
    return str(rng.choice([*files, root.parent / "outside" / "sentinel"]))


def _create_socket(_root: Path, path: Path, _rng: Random) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as one:  # names of sockets are short
        one.bind(path.name)


def _create_folder(_root: Path, path: Path, rng: Random) -> None:
    path.mkdir()
    if rng.random() < 0.5:
        (path / path.name).write_bytes(b"x")


_NOWHERE = ("nothing", "../outside/nothing", "x" * 300)

_REPLACEMENTS: dict[str, tuple[Callable[[Path, Random], Path], Create]] = {
    "fifo": (_file, lambda _, path, __: os.mkfifo(path)),
    "socket": (_file, _create_socket),
    "device": (_file, _create_link(lambda _, __, rng: rng.choice(DEVICES))),
    "folder for file": (_file, _create_folder),
    "file for folder": (_folder, lambda _, path, rng: path.write_bytes(rng.choice((b"", b"x")))),
    "missing": (_file_or_folder, lambda _, __, ___: None),
    "link loop": (
        _file_or_folder,
        _create_link(
            lambda _, at, rng: rng.choice((at.name, f"../{at.parent.name}/{at.name}", "."))
        ),
    ),
    "dangling link": (_file, _create_link(lambda _, __, rng: rng.choice(_NOWHERE))),
    "link to file": (_file, _create_link(_outside_file)),
    "link to folder": (
        _folder,
        _create_link(lambda root, path, _: str(_outside_table(root) / path.name)),
    ),
}
"""Replacements of a file or a folder, by kind: which path, and what is created there."""


def _replace(
    choose: Callable[[Path, Random], Path], create: Create
) -> Callable[[Path, Random], str]:
    """Return an attack that removes a file or folder, and creates something else or nothing."""

    def attack(root: Path, rng: Random) -> str:
        path = choose(root, rng)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        create(root, path, rng)
        return _description(root, path, f"-> {path.readlink()}" if path.is_symlink() else "")

    return attack


def unreadable(root: Path, rng: Random) -> str:
    """Remove all permissions of a file or a folder."""
    path = _file_or_folder(root, rng)
    path.chmod(0)
    return _description(root, path)


def sparse(root: Path, rng: Random) -> str:
    """Make a file huge and sparse, with its bytes at the start or at the end."""
    path = _file(root, rng)
    data = path.read_bytes()
    with path.open("wb") as out:
        out.truncate(SPARSE_BYTES)
        out.seek(rng.choice((0, SPARSE_BYTES - len(data))))
        out.write(data)
    return _description(root, path)


def other_content(root: Path, rng: Random) -> str:
    """Overwrite a file with the bytes of another file of the table, or with few bytes."""
    path, other = _file(root, rng), _file(root, rng)
    data = other.read_bytes()
    few = (b"", b"x", b"LANC", bytes(100), data[: len(data) // 2])
    path.write_bytes(rng.choice((data, data, *few)))
    return _description(root, path, f"<- {other.name}")


_NAMES: tuple[Callable[[Random], bytes], ...] = (
    lambda rng: b"_versions/%d.manifest" % rng.choice((0, 2**63, 2**64 - 1, 2**64, 10**40)),
    lambda rng: (
        b"_versions/%s.manifest" % rng.choice((b"-1", b"1e3", b"d7", b"d", b"", b"\xd9\xa1"))
    ),
    lambda rng: b"_versions/\xff\xfe%d.manifest" % rng.randrange(9),
    lambda rng: b"_versions/" + b"9" * 200 + b".manifest",
    lambda rng: b"data/\xff\xfe\x80.lance",
    lambda rng: b"data/a\nb\x1b[2J" + rng.choice((b".lance", b".json")),
    lambda rng: b"_refs/tags/\xff%d.json" % rng.randrange(9),
    lambda rng: b"_refs/branches/" + rng.choice((b"%ff.json", b"%.json", b"%00.json", b".json")),
    lambda rng: b"_deletions/" + rng.choice((b"x-y-z.arrow", b"0-0.bin", b"\xff.bin")),
    lambda rng: b"_transactions/" + rng.choice((b"x.txn", b"99999999999999999999999-x.txn")),
    lambda rng: b"_indices/" + rng.choice((b"x", b"\xff", b"00000000-0000-0000-0000-000000000000")),
)


def invalid_names(root: Path, rng: Random) -> str:
    """Add a file with an invalid name."""
    name = rng.choice(_NAMES)(rng)
    path = os.path.join(os.fsencode(root), name)  # noqa: PTH118  # bytes have no Path
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "wb") as out:  # noqa: PTH123
        out.write(rng.choice((b"", b"{}", _file(root, rng).read_bytes())))
    return repr(name)[:60]


def many_files(root: Path, rng: Random) -> str:
    """Add a large number of empty files to a folder."""
    folder, count = _folder(root, rng), size_of(rng, 10, 3000)
    suffixes = {"_versions": ".manifest", "_refs": ".json", "data": ".lance", "_deletions": ".bin"}
    for number in range(count):
        (folder / f"{number}{suffixes.get(folder.name, '')}").touch()
    return _description(root, folder, str(count))


def deep_folders(root: Path, rng: Random) -> str:
    """Add deeply nested folders."""
    folder, count = _folder(root, rng), size_of(rng, 10, 1200)
    with chdir(folder):
        for _ in range(count):
            Path("d").mkdir()
            os.chdir("d")
    return _description(root, folder, str(count))


ESCAPING = (OUTSIDE, *(f"{one}../{OUTSIDE}" for one in ("", "side/../", "./", "a/../")))
"""Names of branches that lead to the outside table, from the root or from `tree`."""

BRANCH: dict[str, object] = {
    "parentBranch": None,
    "identifier": {"version_mapping": []},
    "parentVersion": 1,
    "createAt": 1,
    "manifestSize": 1,
    "metadata": {},
}

TAG: dict[str, object] = {"branch": None, "version": 1, "manifestSize": 1, "metadata": {}}

_INVALID_VALUES: tuple[object, ...] = (
    *(None, True, -1, 0, 1.5, 2**63, 2**64, 10**400, "", "x", [], [[]], {}, [1], {"a": 1}),
    *([[1, 2, 3]], [[1, None]], [["x", 1]], "2020-13-45", "0001-01-01T00:00:00-23:59"),
)


def invalid_reference(root: Path, rng: Random) -> str:
    """Write a tag or branch with a value of another type, or with a branch outside the table."""
    folder, model = rng.choice((("tags", TAG), ("branches", BRANCH)))
    key = rng.choice([*model, *model, "createdAt", "updatedAt", "version_mapping"])
    value = rng.choice(_INVALID_VALUES)
    if key in ("branch", "parentBranch") and rng.random() < 0.8:
        value = rng.choice((*ESCAPING, *ESCAPING, *NAMES, str(_outside_table(root))))
    change = {"identifier": {key: value}} if key == "version_mapping" else {key: value}
    (root / "tree").mkdir(exist_ok=True)
    write_reference(root, folder, "invalid", {**model, **change})
    return f"{folder} {key} = {value!r:.40}"


def escaping_branch(root: Path, rng: Random) -> str:
    """Write a branch with a name that leads out of the table, percent-encoded or not."""
    name = rng.choice((*ESCAPING, *ESCAPING, *[one for one in NAMES if one]))
    whole, half = quote(name, safe=""), name.replace("/", "%2F").replace("\0", "%00")
    encoded = rng.choice((whole, whole.replace(".", "%2E"), half))
    (root / "tree").mkdir(exist_ok=True)
    write_reference(
        root, "branches", encoded[:240], {**BRANCH, "parentBranch": rng.choice((None, name))}
    )
    return repr(name)[:60]


def invalid_json(root: Path, rng: Random) -> str:
    """Write a tag, branch or hint with invalid JSON, or with JSON that is expensive to parse."""
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
    """Write a large number of tags, or of branches each of which is the parent of the next."""
    count = size_of(rng, 10, 1000)
    folder = rng.choice(("tags", "branches"))
    for number in range(count):
        before = f"b{(number - 1) % count}"
        content = {**BRANCH, "parentBranch": before} if folder == "branches" else TAG
        write_reference(root, folder, f"b{number}", content)
    return f"{count} {folder}"


def write_reference(root: Path, folder: str, name: str, content: object) -> None:
    """Write a tag or branch by its encoded name."""
    path = root / "_refs" / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


ATTACKS: dict[str, Callable[[Path, Random], str]] = {
    "escaping branch": escaping_branch,
    "invalid reference": invalid_reference,
    "invalid json": invalid_json,
    "many references": many_references,
    **{name: _replace(*replacement) for name, replacement in _REPLACEMENTS.items()},
    "sparse": sparse,
    "other content": other_content,
    "invalid names": invalid_names,
    "many files": many_files,
    "deep folders": deep_folders,
}
"""Attacks on paths by kind, except those that need an unprivileged user."""
