"""Tags and branches: names for versions.

A tag is a JSON file below `_refs/tags`, a branch one below `_refs/branches` (its name
percent-encoded) and a whole table below `tree/{branch}`.

Layout of a tag: {"branch", "version", "createdAt", "updatedAt", "manifestSize", "metadata"};
of a branch: {"parentBranch", "identifier", "parentVersion", "createAt", "manifestSize",
"metadata"}.

Clauses: L.table.refs.tag, L.table.refs.branch
"""

from __future__ import annotations

import json
from urllib.parse import unquote

from lanceref.context import Context
from lanceref.errors import FormatError
from lanceref.storage import Store

TAGS = "_refs/tags"
BRANCHES = "_refs/branches"

Ref = dict[str, object]


def list_tags(store: Store, ctx: Context) -> dict[str, Ref]:
    """Return every tag by name; `version` is checked to be a number."""
    return _list(store, ctx, TAGS, "version", "L.table.refs.tag")


def list_branches(store: Store, ctx: Context) -> dict[str, Ref]:
    """Return every branch by name; `parentVersion` is checked to be a number."""
    return _list(store, ctx, BRANCHES, "parentVersion", "L.table.refs.branch")


def _list(store: Store, ctx: Context, folder: str, key: str, clause: str) -> dict[str, Ref]:
    found: dict[str, Ref] = {}
    for name in store.list(folder):
        if not name.endswith(".json"):
            continue
        source = store.open(f"{folder}/{name}")
        data = bytes(source.read(0, source.size))
        place = Context(name).at(0, len(data))
        try:
            ref = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FormatError(clause, place, found=f"{error}", wanted="a JSON object") from error
        if not isinstance(ref, dict) or not isinstance(ref.get(key), int):
            raise FormatError(clause, place, found=f"{ref!r:.80}", wanted=f"an object with {key}")
        found[unquote(name.removesuffix(".json"))] = ref
    return found
