"""URI of a store: a local path, or scheme, authority, path and query.

A query (`?ddbTableName=...`) belongs to the whole table: paths below it go in front of it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lanceref.core.errors import NotFound
from lanceref.storage.local_file import LOCAL, is_local, local_path

OBJECT = frozenset({"s3", "s3+ddb", "gs", "az", "abfss", "memory", "shared-memory"})
"""Schemes of object stores."""

CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
"""User and password in a URL."""


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of a URI; `path` has no slash at either end."""

    scheme: str
    authority: str
    path: str
    query: str


def parse_uri(uri: str) -> Location:
    """Return the parts of the URI of an object store. Raises NotFound for another scheme."""
    parts = urlsplit(uri)
    if parts.scheme not in OBJECT:
        known = ", ".join(sorted(LOCAL | OBJECT))
        raise NotFound(
            f"No object store provider found for scheme: {parts.scheme!r}\nValid schemes: {known}"
        )
    return Location(parts.scheme, parts.netloc, unquote(parts.path).strip("/"), parts.query)


def joined(root: str, below: str) -> str:
    """Return the path or URI of what lies below a root."""
    if "://" not in root:
        return f"{root}/{below}"
    head, mark, query = root.partition("?")
    return f"{head.rstrip('/')}/{below}{mark}{query}"


def above(root: str, below: str) -> str | None:
    """Return what `joined` made a root from; None when the root does not end in `below`."""
    head, mark, query = root.partition("?") if "://" in root else (root, "", "")
    if not head.endswith(f"/{below}"):
        return None
    return f"{head.removesuffix(f'/{below}')}{mark}{query}"


def contains(root: str, uri: str) -> bool:
    """Whether a path or URI is a root or lies below it; links of local paths are followed."""
    if is_local(root) and is_local(uri):
        try:
            own, other = (os.path.realpath(local_path(one)) for one in (root, uri))
        except ValueError:  # a null byte names nothing
            return False
        return other == own or other.startswith(f"{own.rstrip('/')}/")
    own, other = (one.partition("?")[0].rstrip("/") for one in (root, uri))
    return other == own or (other.startswith(f"{own}/") and ".." not in other.split("/"))


def name_of_uri(uri: str | os.PathLike[str]) -> str:
    """Return the last name of a path or URI: what errors call it."""
    text = os.fspath(uri)
    return Path(local_path(text) if is_local(text) else text.partition("?")[0]).name


def message_of(error: Exception) -> str:
    """Return the message of a client's error, without details and credentials in URLs."""
    return CREDENTIALS.sub("", str(error).partition("\n\nDebug source")[0])
