"""Tags and branches: names for versions.

A tag is a JSON file below `_refs/tags`, a branch one below `_refs/branches` (its name
percent-encoded) and a whole table below `tree/{branch}`. Every path of a tag or a branch is made
of a checked name: one with `..`, an empty segment or a backslash would lead out of the table.

Layout of a tag: {"branch", "version", "createdAt", "updatedAt", "manifestSize", "metadata"}; the
version is one of the branch, or of the main one when that is null. Of a branch: {"parentBranch",
"identifier": {"version_mapping"}, "parentVersion", "createAt", "manifestSize", "metadata"}. Times
of tags are text to the nanosecond, that of a branch is in seconds.

Clauses: L.table.refs.tag, L.table.refs.branch, L.table.refs.branch-name, L.table.refs.tag-name
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TypedDict
from urllib.parse import quote, unquote

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, Place, RefRefused, StoreFailed
from lanceref.storage import Source, Store, above, joined

TAGS = "_refs/tags"
BRANCHES = "_refs/branches"
TREE = "tree"
"""Folder of the branches' own tables."""

MAIN = "main"
"""Another name for the branch that has none."""

LIMIT_BYTES = 2**20
"""No ref is larger; the rest of a larger file is not read."""

_SEGMENT = re.compile(r"[\w.\-]+")


def check_tag_name(name: str) -> None:
    """Raise RefRefused for a name that no tag may have."""
    for is_broken, rule in (
        (not name, "cannot be empty"),
        (not _SEGMENT.fullmatch(name), "characters must be either alphanumeric, '.', '-' or '_'"),
        (name.startswith("."), "cannot begin with a dot"),
        (name.endswith("."), "cannot end with a dot"),
        (name.endswith(".lock"), "cannot end with .lock"),
        (".." in name, "cannot have two consecutive dots"),
    ):
        if is_broken:
            raise RefRefused(f"Ref is invalid: Ref {rule}")


def check_branch_name(name: str) -> None:
    """Raise RefRefused for a name that no branch may have."""
    if name == MAIN:
        raise RefRefused(
            f'Ref is invalid: "{MAIN}" is reserved for the default branch; '
            "use a different branch name"
        )
    for is_broken, rule in (
        (not name, "be empty"),
        (name.startswith("/") or name.endswith("/"), "start or end with a '/'"),
        ("//" in name, "contain consecutive '/'"),
        (".." in name or "\\" in name, "contain '..' or '\\'"),
        (name.endswith(".lock"), "end with '.lock'"),
    ):
        if is_broken:
            raise RefRefused(f"Ref is invalid: Branch name cannot {rule}")
    for segment in name.split("/"):
        if not _SEGMENT.fullmatch(segment) or segment == ".":
            raise RefRefused(
                f"Ref is invalid: Branch segment {segment!r} contains invalid characters. "
                "Only alphanumeric, '.', '-', '_' are allowed."
            )


def check_stored_branch(name: str | None, place: Place) -> None:
    """Raise FormatError for a branch that bytes name and that cannot be one; None is the main."""
    if name in (None, MAIN):
        return
    try:
        check_branch_name(name)
    except RefRefused as refusal:
        found = f"branch {name!r:.80}"
        raise FormatError("L.table.refs.branch-name", place, found, refusal) from refusal


def tag_path(name: str) -> str:
    """Return the path of a tag's file below the root. Raises RefRefused."""
    check_tag_name(name)
    return f"{TAGS}/{quote(name, safe='')}.json"


def branch_path(name: str) -> str:
    """Return the path of a branch's file below the root. Raises RefRefused."""
    check_branch_name(name)
    return f"{BRANCHES}/{quote(name, safe='')}.json"


def branch_store(root: Store, branch: str | None) -> Store:
    """Return the store of a branch's table; `root` is that of the main branch.

    Raises RefRefused for a name that no branch has, StoreFailed for a branch whose folder is
    outside the root because of a link.
    """
    if branch in (None, MAIN):
        return root
    check_branch_name(branch)
    folder = f"{TREE}/{branch}"
    if not root.owns(folder):
        raise StoreFailed(f"{joined(root.root, folder)}: a link leads out of the table")
    return root.at(joined(root.root, folder))


def main_root(root: str, branch: str) -> str:
    """Return the root of the main branch from that of a branch; empty is the main one."""
    return (above(root, f"{TREE}/{branch}") if branch else None) or root


class Tag(TypedDict):
    """A name for a version; `branch` is None on the main branch."""

    branch: str | None
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    manifest_size: int | None
    metadata: dict[str, str]


class Branch(TypedDict):
    """A line of versions of its own, and where it left its parent (None: the main branch)."""

    parent_branch: str | None
    branch_identifier: list[tuple[int, str]]
    parent_version: int
    create_at: int | None
    manifest_size: int | None
    metadata: dict[str, str]


def list_tags(store: Store, ctx: Context) -> dict[str, Tag]:
    """Return every tag by name. Raises FormatError."""
    return {name: _tag(source, own) for name, source, own in _sources(store, ctx, TAGS)}


def list_branches(store: Store, ctx: Context) -> dict[str, Branch]:
    """Return every branch by name. Raises FormatError."""
    return {name: _branch(source, own) for name, source, own in _sources(store, ctx, BRANCHES)}


def _sources(store: Store, ctx: Context, folder: str) -> Iterator[tuple[str, Source, Context]]:
    for name in store.list(folder):
        if name.endswith(".json"):
            source = store.open(f"{folder}/{name}")
            yield unquote(name.removesuffix(".json")), source, replace(ctx, file=name)


def check_reference(source: Source, ctx: Context) -> None:
    """Check one tag or branch by itself, as its folder says; any other JSON file is a hint."""
    folder = PurePath(source.path).parent.name
    ctx.leaf(0, source.size, {"tags": "tag", "branches": "branch"}.get(folder, "hint"), "json")
    with ctx.piece():
        if folder == "tags":
            check_stored_branch(_tag(source, ctx)["branch"], ctx.at(0, source.size))
        elif folder == "branches":
            check_stored_branch(_branch(source, ctx)["parent_branch"], ctx.at(0, source.size))


def _tag(source: Source, ctx: Context) -> Tag:
    ref = _Ref(source, ctx, "L.table.refs.tag")
    return Tag(
        branch=ref.text("branch"),
        version=ref.number("version"),
        created_at=ref.time("createdAt"),
        updated_at=ref.time("updatedAt"),
        manifest_size=ref.number_if_present("manifestSize"),
        metadata=ref.metadata(),
    )


def _branch(source: Source, ctx: Context) -> Branch:
    ref = _Ref(source, ctx, "L.table.refs.branch")
    return Branch(
        parent_branch=ref.text("parentBranch"),
        branch_identifier=ref.mapping(),
        parent_version=ref.number("parentVersion"),
        create_at=ref.number_if_present("createAt"),
        manifest_size=ref.number_if_present("manifestSize"),
        metadata=ref.metadata(),
    )


class _Ref:
    """The JSON object of one ref; each getter raises FormatError for a value of another type."""

    def __init__(self, source: Source, ctx: Context, clause: str) -> None:
        data = bytes(source.read(0, min(source.size, LIMIT_BYTES)))
        self._clause, self._place = clause, ctx.during("metadata").at(0, len(data))
        try:
            ref: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FormatError(clause, self._place, error, "a JSON object") from error
        if not isinstance(ref, dict):
            raise FormatError(clause, self._place, f"{ref!r:.80}", "a JSON object")
        self._data: dict[str, object] = ref

    def number(self, key: str) -> int:
        """Return a version or a size."""
        value = self._data.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
            raise self._wrong(key, "an unsigned integer")
        return value

    def number_if_present(self, key: str) -> int | None:
        """Return the same, None where it is missing."""
        return self.number(key) if key in self._data else None

    def text(self, key: str) -> str | None:
        """Return a string, None when it is null or missing."""
        value = self._data.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a string or null")
        return value

    def time(self, key: str) -> datetime | None:
        """Return a time, None when it is null or missing; finer than microseconds is cut."""
        text = self.text(key)
        try:
            return None if text is None else datetime.fromisoformat(text)
        except ValueError as error:
            raise self._wrong(key, "a time") from error

    def metadata(self) -> dict[str, str]:
        """Return the metadata."""
        value = self._data.get("metadata", {})
        if not isinstance(value, dict):
            raise self._wrong("metadata", "an object")
        return {key: str(text) for key, text in value.items()}

    def mapping(self) -> list[tuple[int, str]]:
        """Return the versions and ids that identify a branch."""
        identifier = self._data.get("identifier", {})
        pairs = identifier.get("version_mapping", []) if isinstance(identifier, dict) else None
        if not isinstance(pairs, list) or any(
            not isinstance(pair, list) or len(pair) != 2 for pair in pairs
        ):
            raise self._wrong("identifier", "an object with a list of pairs")
        return [(version, str(uuid)) for version, uuid in pairs]

    def _wrong(self, key: str, wanted: str) -> FormatError:
        return FormatError(self._clause, self._place, f"{key}: {self._data.get(key)!r:.80}", wanted)


def put_tag(store: Store, name: str, tag: Tag, *, new: bool = False) -> None:
    """Write a tag. Raises RefRefused for a `new` one whose name is taken."""
    ref = {
        "branch": tag["branch"],
        "version": tag["version"],
        "createdAt": _time_text(tag["created_at"]),
        "updatedAt": _time_text(tag["updated_at"]),
        "manifestSize": tag["manifest_size"],
        "metadata": tag["metadata"],
    }
    _put(store, tag_path(name), ref, f"tag {name}", new=new)


def put_branch(store: Store, name: str, branch: Branch, *, new: bool = False) -> None:
    """Write a branch. Raises RefRefused for a `new` one whose name is taken."""
    ref = {
        "parentBranch": branch["parent_branch"],
        "identifier": {"version_mapping": [list(pair) for pair in branch["branch_identifier"]]},
        "parentVersion": branch["parent_version"],
        "createAt": branch["create_at"],
        "manifestSize": branch["manifest_size"],
        "metadata": branch["metadata"],
    }
    _put(store, branch_path(name), ref, f"branch {name}", new=new)


def _time_text(time: datetime | None) -> str | None:
    return None if time is None else f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"


def _put(store: Store, path: str, ref: Mapping[str, object], what: str, *, new: bool) -> None:
    data = json.dumps(ref, indent=2, ensure_ascii=False).encode()
    if not new:
        store.put(path, data)
    elif not store.put_if_absent(path, data):
        raise RefRefused(f"Ref conflict error: {what} already exists")
