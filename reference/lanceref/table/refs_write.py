"""Tags and branches, written.

Layout: see `refs`. Times of tags are text to the nanosecond, that of a branch is in seconds.

Clauses: L.table.refs.tag, L.table.refs.branch
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from lanceref.core.errors import RefRefused
from lanceref.storage import Store
from lanceref.table.ref_names import branch_path, tag_path
from lanceref.table.refs import Branch, Tag


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
