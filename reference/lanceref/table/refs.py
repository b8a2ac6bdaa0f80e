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
from typing import TypedDict, cast
from urllib.parse import quote, unquote

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, OperationRefused, Place, StoreFailed
from lanceref.storage import Source, Store
from lanceref.storage.uri import above, joined

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
    """Raise OperationRefused for a name that no tag may have."""
    for is_broken, rule in (
        (not name, "cannot be empty"),
        (not _SEGMENT.fullmatch(name), "characters must be either alphanumeric, '.', '-' or '_'"),
        (name.startswith("."), "cannot begin with a dot"),
        (name.endswith("."), "cannot end with a dot"),
        (name.endswith(".lock"), "cannot end with .lock"),
        (".." in name, "cannot have two consecutive dots"),
    ):
        if is_broken:
            raise OperationRefused(f"Ref is invalid: Ref {rule}")


def check_branch_name(name: str) -> None:
    """Raise OperationRefused for a name that no branch may have."""
    if name == MAIN:
        found = f'"{MAIN}" is reserved for the default branch; use a different branch name'
        raise OperationRefused(f"Ref is invalid: {found}")
    for is_broken, rule in (
        (not name, "be empty"),
        (name.startswith("/") or name.endswith("/"), "start or end with a '/'"),
        ("//" in name, "contain consecutive '/'"),
        (".." in name or "\\" in name, "contain '..' or '\\'"),
        (name.endswith(".lock"), "end with '.lock'"),
    ):
        if is_broken:
            raise OperationRefused(f"Ref is invalid: Branch name cannot {rule}")
    for segment in name.split("/"):
        if not _SEGMENT.fullmatch(segment) or segment == ".":
            raise OperationRefused(
                f"Ref is invalid: Branch segment {segment!r} contains invalid characters. "
                "Only alphanumeric, '.', '-', '_' are allowed."
            )


def check_stored_branch(name: str | None, place: Place) -> None:
    """Raise FormatError for a branch that bytes name and that cannot be one; None is the main."""
    if name in (None, MAIN):
        return
    try:
        check_branch_name(name)
    except OperationRefused as refusal:
        found = f"branch {name!r:.80}"
        raise FormatError("L.table.refs.branch-name", place, found, refusal) from refusal


def tag_path(name: str) -> str:
    """Return the path of a tag's file below the root. Raises OperationRefused."""
    check_tag_name(name)
    return f"{TAGS}/{quote(name, safe='')}.json"


def branch_path(name: str) -> str:
    """Return the path of a branch's file below the root. Raises OperationRefused."""
    check_branch_name(name)
    return f"{BRANCHES}/{quote(name, safe='')}.json"


def branch_store(root: Store, branch: str | None) -> Store:
    """Return the store of a branch's table; `root` is that of the main branch.

    Raises OperationRefused for a name that no branch has, StoreFailed for a branch whose folder is
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


_Fields = tuple[tuple[str, str, str], ...]
_Values = dict[str, object]

_TAG: _Fields = (
    ("branch", "branch", "text"),
    ("version", "version", "number"),
    ("created_at", "createdAt", "time"),
    ("updated_at", "updatedAt", "time"),
    ("manifest_size", "manifestSize", "number if present"),
    ("metadata", "metadata", "texts"),
)
"""Name, key in the object, and kind of each value of a tag."""

_BRANCH: _Fields = (
    ("parent_branch", "parentBranch", "text"),
    ("branch_identifier", "identifier", "mapping"),
    ("parent_version", "parentVersion", "number"),
    ("create_at", "createAt", "number if present"),
    ("manifest_size", "manifestSize", "number if present"),
    ("metadata", "metadata", "texts"),
)
"""The same of a branch."""


_FORMS = {TAGS: ("L.table.refs.tag", _TAG), BRANCHES: ("L.table.refs.branch", _BRANCH)}
"""Clause and values of the references in a folder."""


def list_tags(store: Store, ctx: Context) -> dict[str, Tag]:
    """Return every tag by name. Raises FormatError."""
    return {name: cast("Tag", ref) for name, ref in _references(store, ctx, TAGS)}


def list_branches(store: Store, ctx: Context) -> dict[str, Branch]:
    """Return every branch by name. Raises FormatError."""
    return {name: cast("Branch", ref) for name, ref in _references(store, ctx, BRANCHES)}


def _references(store: Store, ctx: Context, folder: str) -> Iterator[tuple[str, _Values]]:
    for name in store.list(folder):
        if name.endswith(".json"):
            source, own = store.open(f"{folder}/{name}"), replace(ctx, file=name)
            yield unquote(name.removesuffix(".json")), _parse(source, own, *_FORMS[folder])


def check_reference(source: Source, ctx: Context) -> None:
    """Check one tag or branch by itself, by its folder; any other JSON file is a hint.

    Raises FormatError.
    """
    folder = f"_refs/{PurePath(source.path).parent.name}"
    ctx.leaf(0, source.size, {TAGS: "tag", BRANCHES: "branch"}.get(folder, "hint"), "json")
    if folder in _FORMS:
        ref = _parse(source, ctx, *_FORMS[folder])
        branch = ref["branch" if folder == TAGS else "parent_branch"]
        check_stored_branch(cast("str | None", branch), ctx.at(0, source.size))


def _parse(source: Source, ctx: Context, clause: str, fields: _Fields) -> _Values:
    """Return the values of a reference by their names. Raises FormatError."""
    data = bytes(source.read(0, min(source.size, LIMIT_BYTES)))
    place = ctx.during("metadata").at(0, len(data))
    try:
        ref: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(clause, place, error, "a JSON object") from error
    if not isinstance(ref, dict):
        raise FormatError(clause, place, f"{ref!r:.80}", "a JSON object")
    values: _Values = {}
    for name, key, kind in fields:
        try:
            values[name] = _value(ref, key, kind)
        except ValueError as error:
            found = f"{key}: {ref.get(key)!r:.80}"
            raise FormatError(clause, place, found, error) from error
    return values


def _value(ref: Mapping[str, object], key: str, kind: str) -> object:
    """Return a value of a reference; times are cut to microseconds. Raises ValueError."""
    value = ref.get(key, {} if kind in ("texts", "mapping") else None)
    if kind in ("text", "time"):
        if value is not None and not isinstance(value, str):
            raise ValueError("a string or null")
        return datetime.fromisoformat(value) if kind == "time" and value is not None else value
    if kind in ("texts", "mapping"):
        if not isinstance(value, dict):
            raise ValueError("an object")
        if kind == "texts":
            return {name: str(text) for name, text in value.items()}
        pairs = value.get("version_mapping", [])
        is_list = isinstance(pairs, list)
        if not is_list or any(not isinstance(one, list) or len(one) != 2 for one in pairs):
            raise ValueError("an object with a list of pairs")
        return [(version, str(uuid)) for version, uuid in pairs]
    if kind == "number if present" and key not in ref:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError("an unsigned integer")
    return value


def put_tag(store: Store, name: str, tag: Tag, *, new: bool = False) -> None:
    """Write a tag. Raises OperationRefused for a `new` one whose name is taken."""
    _put(store, tag_path(name), _TAG, tag, f"tag {name}" if new else None)


def put_branch(store: Store, name: str, branch: Branch, *, new: bool = False) -> None:
    """Write a branch. Raises OperationRefused for a `new` one whose name is taken."""
    _put(store, branch_path(name), _BRANCH, branch, f"branch {name}" if new else None)


def _put(
    store: Store, path: str, fields: _Fields, ref: Mapping[str, object], new: str | None
) -> None:
    """Write a reference; the name of a `new` one must be free."""
    written: dict[str, object] = {}
    for name, key, kind in fields:
        value = ref[name]
        if isinstance(value, datetime):
            value = f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"
        written[key] = {"version_mapping": value} if kind == "mapping" else value
    data = json.dumps(written, indent=2, ensure_ascii=False).encode()
    if new is None:
        store.put(path, data)
    elif not store.put_if_absent(path, data):
        raise OperationRefused(f"Ref conflict error: {new} already exists")
