"""Tags and branches, written.

Layout: see `refs`. Times of tags are text to the nanosecond, that of a branch is in seconds.

Clauses: L.table.refs.tag, L.table.refs.branch, L.table.refs.tag-name, L.table.refs.branch-name
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from lanceref.errors import RefRefused
from lanceref.storage import Store
from lanceref.table.refs import BRANCHES, TAGS, Branch, Tag

MAIN = "main"
"""Another name for the branch that has none."""

_SEGMENT = re.compile(r"[\w.\-]+")


def check_tag_name(name: str) -> None:
    """Raise RefRefused for a name that no tag may have."""
    if not name:
        raise RefRefused("Ref is invalid: Ref cannot be empty")
    if not _SEGMENT.fullmatch(name):
        raise RefRefused(
            "Ref is invalid: Ref characters must be either alphanumeric, '.', '-' or '_'"
        )
    for is_broken, rule in (
        (name.startswith("."), "begin with a dot"),
        (name.endswith("."), "end with a dot"),
        (name.endswith(".lock"), "end with .lock"),
        (".." in name, "have two consecutive dots"),
    ):
        if is_broken:
            raise RefRefused(f"Ref is invalid: Ref cannot {rule}")


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
        if not _SEGMENT.fullmatch(segment):
            raise RefRefused(
                f"Ref is invalid: Branch segment '{segment}' contains invalid characters. "
                "Only alphanumeric, '.', '-', '_' are allowed."
            )


def tag_path(name: str) -> str:
    """Return the path of a tag's file below the root."""
    return f"{TAGS}/{name}.json"


def branch_path(name: str) -> str:
    """Return the path of a branch's file below the root."""
    return f"{BRANCHES}/{quote(name, safe='')}.json"


def put_tag(store: Store, name: str, tag: Tag, *, new: bool = False) -> None:
    """Write a tag. Raises RefRefused for a `new` one whose name is taken."""
    text = {
        "branch": tag["branch"],
        "version": tag["version"],
        "createdAt": _moment(tag["created_at"]),
        "updatedAt": _moment(tag["updated_at"]),
        "manifestSize": tag["manifest_size"],
        "metadata": tag["metadata"],
    }
    if not new:
        store.put(tag_path(name), _json(text))
    elif not store.put_if_absent(tag_path(name), _json(text)):
        raise RefRefused(f"Ref conflict error: tag {name} already exists")


def put_branch(store: Store, name: str, branch: Branch, *, new: bool = False) -> None:
    """Write a branch. Raises RefRefused for a `new` one whose name is taken."""
    text = {
        "parentBranch": branch["parent_branch"],
        "identifier": {"version_mapping": [list(pair) for pair in branch["branch_identifier"]]},
        "parentVersion": branch["parent_version"],
        "createAt": branch["create_at"],
        "manifestSize": branch["manifest_size"],
        "metadata": branch["metadata"],
    }
    if not new:
        store.put(branch_path(name), _json(text))
    elif not store.put_if_absent(branch_path(name), _json(text)):
        raise RefRefused(f"Ref conflict error: branch {name} already exists")


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode()
