"""Tags and branches: names for versions.

A tag is a JSON file below `_refs/tags`, a branch one below `_refs/branches` (its name
percent-encoded) and a whole table below `tree/{branch}`.

Layout of a tag: {"branch", "version", "createdAt", "updatedAt", "manifestSize", "metadata"}; the
version is one of the branch, or of the main one when that is null. Of a branch: {"parentBranch",
"identifier": {"version_mapping"}, "parentVersion", "createAt", "manifestSize", "metadata"}.

Clauses: L.table.refs.tag, L.table.refs.branch, L.table.refs.branch-name
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import TypedDict
from urllib.parse import unquote

from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.storage import Source, Store
from lanceref.table.ref_names import BRANCHES, TAGS, check_stored_branch

LIMIT_BYTES = 2**20
"""No ref is larger; the rest of a larger file is not read."""


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
    return {name: _tag(ref) for name, ref in _read(store, ctx, TAGS, "L.table.refs.tag")}


def list_branches(store: Store, ctx: Context) -> dict[str, Branch]:
    """Return every branch by name. Raises FormatError."""
    read = _read(store, ctx, BRANCHES, "L.table.refs.branch")
    return {name: _branch(ref) for name, ref in read}


def _tag(ref: _Ref) -> Tag:
    return Tag(
        branch=ref.text("branch"),
        version=ref.number("version"),
        created_at=ref.moment("createdAt"),
        updated_at=ref.moment("updatedAt"),
        manifest_size=ref.number("manifestSize") if "manifestSize" in ref.data else None,
        metadata=ref.metadata(),
    )


def _branch(ref: _Ref) -> Branch:
    return Branch(
        parent_branch=ref.text("parentBranch"),
        branch_identifier=ref.mapping(),
        parent_version=ref.number("parentVersion"),
        create_at=ref.number("createAt") if "createAt" in ref.data else None,
        manifest_size=ref.number("manifestSize") if "manifestSize" in ref.data else None,
        metadata=ref.metadata(),
    )


class _Ref:
    """The JSON object of one ref; each getter raises FormatError for a value of another type."""

    def __init__(self, data: dict[str, object], clause: str, ctx: Context, size: int) -> None:
        self.data = data
        self._clause = clause
        self._place = ctx.at(0, size)

    def number(self, key: str) -> int:
        """Return a version or a size."""
        value = self.data.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
            raise self._wrong(key, "an unsigned integer")
        return value

    def text(self, key: str) -> str | None:
        """Return a string, None when it is null or missing."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a string or null")
        return value

    def moment(self, key: str) -> datetime | None:
        """Return a time, None when it is null or missing; finer than microseconds is cut."""
        text = self.text(key)
        try:
            return None if text is None else datetime.fromisoformat(text)
        except ValueError as error:
            raise self._wrong(key, "a time") from error

    def metadata(self) -> dict[str, str]:
        """Return the metadata."""
        value = self.data.get("metadata", {})
        if not isinstance(value, dict):
            raise self._wrong("metadata", "an object")
        return {key: str(text) for key, text in value.items()}

    def mapping(self) -> list[tuple[int, str]]:
        """Return the versions and ids that identify a branch."""
        identifier = self.data.get("identifier", {})
        pairs = identifier.get("version_mapping", []) if isinstance(identifier, dict) else None
        if not isinstance(pairs, list) or any(
            not isinstance(pair, list) or len(pair) != 2 for pair in pairs
        ):
            raise self._wrong("identifier", "an object with a list of pairs")
        return [(version, str(uuid)) for version, uuid in pairs]

    def _wrong(self, key: str, wanted: str) -> FormatError:
        found = f"{key}: {self.data.get(key)!r:.80}"
        return FormatError(self._clause, self._place, found=found, wanted=wanted)


def _read(store: Store, ctx: Context, folder: str, clause: str) -> Iterator[tuple[str, _Ref]]:
    for name in store.list(folder):
        if not name.endswith(".json"):
            continue
        source = store.open(f"{folder}/{name}")
        parsed = _parse(source, replace(ctx, file=name), clause)
        yield unquote(name.removesuffix(".json")), parsed


def _parse(source: Source, ctx: Context, clause: str) -> _Ref:
    """Return the object a ref holds. Raises FormatError."""
    data = bytes(source.read(0, min(source.size, LIMIT_BYTES)))
    ref_ctx = ctx.during("metadata")
    place = ref_ctx.at(0, len(data))
    try:
        ref = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(clause, place, found=f"{error}", wanted="a JSON object") from error
    if not isinstance(ref, dict):
        raise FormatError(clause, place, found=f"{ref!r:.80}", wanted="a JSON object")
    return _Ref(ref, clause, ref_ctx, len(data))


def check_reference(source: Source, ctx: Context) -> None:
    """Check one tag or branch by itself, as its folder says; any other JSON file is a hint."""
    folder = PurePath(source.path).parent.name
    ctx.leaf(0, source.size, {"tags": "tag", "branches": "branch"}.get(folder, "hint"), "json")
    with ctx.piece():
        if folder == "tags":
            tag = _tag(_parse(source, ctx, "L.table.refs.tag"))
            check_stored_branch(tag["branch"], ctx.at(0, source.size))
        elif folder == "branches":
            branch = _branch(_parse(source, ctx, "L.table.refs.branch"))
            check_stored_branch(branch["parent_branch"], ctx.at(0, source.size))
