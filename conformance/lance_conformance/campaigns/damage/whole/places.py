"""Hostile places: what is at a path of the table is no file, another file, or a way out.

An attack picks one file of the table, or one folder, and puts something else there; or it writes
tags and branches whose names lead elsewhere, or that are no references.
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
"""What a link may lead to that is no file of bytes."""

FOLDERS = (*("data", "_versions", "_transactions", "_deletions", "_indices", "_refs", "tree"),)

SPARSE_BYTES = 2**40
"""Size of a file that has no bytes of its own."""


def _file(root: Path, rng: Random) -> Path:
    """Return one file; every folder is as likely as another."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    folder = rng.choice(sorted({path.relative_to(root).parts[0] for path in files}))
    return rng.choice([path for path in files if path.relative_to(root).parts[0] == folder])


def _folder(root: Path, rng: Random) -> Path:
    return root / rng.choice([name for name in FOLDERS if (root / name).is_dir()])


def _any(root: Path, rng: Random) -> Path:
    return rng.choice((_file(root, rng), _folder(root, rng)))


def _told(root: Path, path: Path, what: str = "") -> str:
    return f"{path.relative_to(root)} {what}".strip()


def _victim(root: Path) -> Path:
    return root.parent / "outside" / "victim"


Put = Callable[[Path, Path, Random], object]
"""Puts something at a path below a root where nothing is."""


def _link(to: Callable[[Path, Path, Random], str]) -> Put:
    return lambda root, path, rng: path.symlink_to(to(root, path, rng))


def _like(root: Path, path: Path, rng: Random) -> str:
    """Return a file of the victim from the folder that a file of the table lies in."""
    same = sorted(_victim(root).glob(f"{path.relative_to(root).parts[0]}/*"))
    return str(rng.choice([*same, root.parent / "outside" / "sentinel"]))


def _put_socket(_root: Path, path: Path, _rng: Random) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as made:  # its name may not be long
        made.bind(path.name)


def _put_folder(_root: Path, path: Path, rng: Random) -> None:
    path.mkdir()
    if rng.random() < 0.5:
        (path / path.name).write_bytes(b"x")


_NOWHERE = ("nothing", "../outside/nothing", "x" * 300)

_PUT: dict[str, tuple[Callable[[Path, Random], Path], Put]] = {
    "fifo": (_file, lambda _, path, __: os.mkfifo(path)),
    "socket": (_file, _put_socket),
    "device": (_file, _link(lambda _, __, rng: rng.choice(DEVICES))),
    "folder for file": (_file, _put_folder),
    "file for folder": (_folder, lambda _, path, rng: path.write_bytes(rng.choice((b"", b"x")))),
    "missing": (_any, lambda _, __, ___: None),
    "link loop": (
        _any,
        _link(lambda _, at, rng: rng.choice((at.name, f"../{at.parent.name}/{at.name}", "."))),
    ),
    "dangling link": (_file, _link(lambda _, __, rng: rng.choice(_NOWHERE))),
    "link to file": (_file, _link(_like)),
    "link to folder": (_folder, _link(lambda root, path, _: str(_victim(root) / path.name))),
}
"""What takes the place of a file or a folder."""


def _replaced(pick: Callable[[Path, Random], Path], put: Put) -> Callable[[Path, Random], str]:
    """Return an attack that removes what is at a path and puts something else there, or nothing."""

    def attack(root: Path, rng: Random) -> str:
        path = pick(root, rng)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        put(root, path, rng)
        return _told(root, path, f"-> {path.readlink()}" if path.is_symlink() else "")

    return attack


def unreadable(root: Path, rng: Random) -> str:
    """Take away the right to read a file or a folder."""
    path = _any(root, rng)
    path.chmod(0)
    return _told(root, path)


def sparse(root: Path, rng: Random) -> str:
    """Let a file be huge, without bytes before or after what it holds."""
    path = _file(root, rng)
    data = path.read_bytes()
    with path.open("wb") as out:
        out.truncate(SPARSE_BYTES)
        out.seek(rng.choice((0, SPARSE_BYTES - len(data))))
        out.write(data)
    return _told(root, path)


def other_content(root: Path, rng: Random) -> str:
    """Put the bytes of another file of the table, or few bytes, in place of a file."""
    path, other = _file(root, rng), _file(root, rng)
    data = other.read_bytes()
    few = (b"", b"x", b"LANC", bytes(100), data[: len(data) // 2])
    path.write_bytes(rng.choice((data, data, *few)))
    return _told(root, path, f"<- {other.name}")


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


def strange_names(root: Path, rng: Random) -> str:
    """Add files with names that no writer gives."""
    made = rng.choice(_NAMES)(rng)
    place = os.path.join(os.fsencode(root), made)  # noqa: PTH118  # bytes have no Path
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
    with open(place, "wb") as out:  # noqa: PTH123
        out.write(rng.choice((b"", b"{}", _file(root, rng).read_bytes())))
    return repr(made)[:60]


def many_files(root: Path, rng: Random) -> str:
    """Add very many empty files to a folder."""
    folder, count = _folder(root, rng), size_of(rng, 10, 3000)
    ends = {"_versions": ".manifest", "_refs": ".json", "data": ".lance", "_deletions": ".bin"}
    for number in range(count):
        (folder / f"{number}{ends.get(folder.name, '')}").touch()
    return _told(root, folder, str(count))


def deep_folders(root: Path, rng: Random) -> str:
    """Add a folder in a folder, again and again."""
    folder, count = _folder(root, rng), size_of(rng, 10, 1200)
    with chdir(folder):
        for _ in range(count):
            Path("d").mkdir()
            os.chdir("d")
    return _told(root, folder, str(count))


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


def strange_reference(root: Path, rng: Random) -> str:
    """Write a tag or branch with a value of another type, or of a branch that leads elsewhere."""
    folder, model = rng.choice((("tags", TAG), ("branches", BRANCH)))
    key = rng.choice([*model, *model, "createdAt", "updatedAt", "version_mapping"])
    value = rng.choice(_STRANGE)
    if key in ("branch", "parentBranch") and rng.random() < 0.8:
        value = rng.choice((*UP, *UP, *NAMES, str(_victim(root))))
    held = {"identifier": {key: value}} if key == "version_mapping" else {key: value}
    (root / "tree").mkdir(exist_ok=True)
    put_reference(root, folder, "strange", {**model, **held})
    return f"{folder} {key} = {value!r:.40}"


def wandering_branch(root: Path, rng: Random) -> str:
    """Write a branch under a name that leads out of the table, encoded in some way."""
    name = rng.choice((*UP, *UP, *[one for one in NAMES if one]))
    whole, half = quote(name, safe=""), name.replace("/", "%2F").replace("\0", "%00")
    encoded = rng.choice((whole, whole.replace(".", "%2E"), half))
    (root / "tree").mkdir(exist_ok=True)
    put_reference(
        root, "branches", encoded[:240], {**BRANCH, "parentBranch": rng.choice((None, name))}
    )
    return repr(name)[:60]


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
        put_reference(root, folder, f"b{number}", held)
    return f"{count} {folder}"


def put_reference(root: Path, folder: str, name: str, held: object) -> None:
    """Write a tag or branch by its encoded name."""
    path = root / "_refs" / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(held), encoding="utf-8")


ATTACKS: dict[str, Callable[[Path, Random], str]] = {
    "wandering branch": wandering_branch,
    "strange reference": strange_reference,
    "no json": no_json,
    "many references": many_references,
    **{name: _replaced(pick, put) for name, (pick, put) in _PUT.items()},
    "sparse": sparse,
    "other content": other_content,
    "strange names": strange_names,
    "many files": many_files,
    "deep folders": deep_folders,
}
"""Attacks on places by their kind, but for those that need another user."""
