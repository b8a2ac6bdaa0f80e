"""Names of tags and branches: which there may be, and where their files and tables are.

Every path of a tag or a branch is made here, from a name that was checked: a name with `..`, an
empty segment or a backslash would lead out of the table.

Clauses: L.table.refs.tag-name, L.table.refs.branch-name
"""

from __future__ import annotations

import re
from urllib.parse import quote

from lanceref.core.errors import FormatError, Place, RefRefused, StoreFailed
from lanceref.storage import Store, above, joined

TAGS = "_refs/tags"
BRANCHES = "_refs/branches"
TREE = "tree"
"""Folder of the branches' own tables."""

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
        raise FormatError(
            "L.table.refs.branch-name", place, found=f"branch {name!r:.80}", wanted=f"{refusal}"
        ) from refusal


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
