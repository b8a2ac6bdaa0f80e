"""Sources: the messages of a table that are changed, and the sizes and names that follow them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from google.protobuf.message import DecodeError
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource

from lance_conformance.campaigns.damage.whole.fields import NAMES, change_some, edited, latest
from lance_conformance.campaigns.damage.whole.places import BRANCH, put_reference

PARENTS = (None, "self", "other")
"""Branches that a branch of the name `self` may say it was made from."""

Pick = Callable[[Path, Random], tuple[Path, str]]
"""Returns a file of a table, and the name of a message in it."""


def changed(pick: Pick) -> Callable[[Path, Random], str]:
    """Return an attack that changes up to three fields of a message."""

    def attack(root: Path, rng: Random) -> str:
        path, where = pick(root, rng)
        names = NAMES if rng.random() < 0.7 else victim_names(root)
        try:
            with edited(path, where) as message:
                part = rng.choice(message.fragments) if where == "manifest" else message
                told = change_some(part if rng.random() < 0.5 else message, rng, names)
                if where == "manifest":
                    ids = [one.id for one in message.fragments if one.id < 2**32]
                    message.max_fragment_id = max([message.max_fragment_id, *ids])
        except DecodeError:  # a file of an index may have another schema
            return "no such message"
        if where == "transaction" and rng.random() < 0.5:
            _copy_transaction(root)
        if path.parent.name == "data":
            tell_size(root, path)
        return f"{path.name} {told}"

    return attack


def victim_names(root: Path) -> list[str]:
    """Return the ways to the files of the victim from the folders of a table."""
    victim = root.parent / "outside" / "victim"
    files = [path.relative_to(root.parent) for path in sorted(victim.rglob("*")) if path.is_file()]
    ways = ("../..", "..", str(root.parent))
    return [f"{way}/{path}" for path in files for way in ways]


def _copy_transaction(root: Path) -> None:
    """Write the transaction of the manifest into its own file, too."""
    with edited(latest(root)) as manifest:
        named = root / "_transactions" / manifest.transaction_file
    with edited(latest(root), "transaction") as transaction:
        named.write_bytes(transaction.SerializeToString())


def section(name: str) -> Pick:
    """Return what picks a section of the latest manifest."""
    return lambda root, _: (latest(root), name)


def column(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick what a data file says of a column."""
    path = data_file(root, rng)
    return path, f"column {rng.randrange(len(pages_of(path)))}"


def encoding(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick how a page is encoded."""
    path = data_file(root, rng)
    number, pages = rng.choice([(n, pages) for n, pages in enumerate(pages_of(path)) if pages])
    return path, f"page {number}.{rng.randrange(pages)}"


def index_column(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick what a file of an index says of a column."""
    path = rng.choice([one for one in sorted(root.glob("_indices/*/*")) if pages_of(one)])
    return path, f"column {rng.randrange(len(pages_of(path)))}"


def schema(root: Path, rng: Random) -> tuple[Path, str]:
    """Pick the schema that a data file, or a file of an index, holds."""
    return rng.choice([data_file(root, rng), *sorted(root.glob("_indices/*/*"))]), "descriptor"


def branch(root: Path, rng: Random) -> tuple[Path, str]:
    """Make a branch of a copy of the latest manifest, and pick that."""
    copy = root / "tree" / "self" / "_versions" / latest(root).name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(latest(root), copy)
    put_reference(root, "branches", "self", {**BRANCH, "parentBranch": rng.choice(PARENTS)})
    return copy, "manifest"


def data_file(root: Path, rng: Random) -> Path:
    """Return a data file of the latest version."""
    with edited(latest(root)) as manifest:
        paths = [one.path for fragment in manifest.fragments for one in fragment.files]
    return root / "data" / str(rng.choice(paths))


def pages_of(path: Path) -> list[int]:
    """Return how many pages each column of a data file has."""
    file = open_file(LocalSource(str(path)), Context(path.name))
    return [len(column.pages) for column in file.columns]


def tell_size(root: Path, path: Path, rows: int | None = None) -> None:
    """Let the manifest know the size of a data file, and its `rows` where there are others."""
    with edited(latest(root)) as manifest:
        for fragment in manifest.fragments:
            for one in fragment.files:
                if one.path == path.name:
                    one.file_size_bytes = path.stat().st_size
                    fragment.physical_rows = rows or fragment.physical_rows
