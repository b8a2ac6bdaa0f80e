"""Dropping a table: all its files removed, in an order that may be interrupted."""

from __future__ import annotations

from lanceref.core.errors import OperationRefused
from lanceref.storage import Entry, Store
from lanceref.storage.manifests.manifest_names import FOLDER, HINT, parse_name
from lanceref.table.bases import branch_of
from lanceref.table.refs import TREE

MARK = f"{FOLDER}/{HINT}"
"""What says that a folder is a table's while its files are removed."""


def drop_table(store: Store) -> bool:
    """Remove a table with all its files; return whether there was one.

    What another table left that was not dropped to the end is removed too; it is refused where no
    file beside the manifests tells that it was one. Raises OperationRefused.
    """
    if next(store.list(FOLDER), None) is None:
        if next(store.walk(""), None) is not None:
            raise OperationRefused(f"Refusing to drop {store.root!r}: it has no manifest")
        store.prune("")
        return False
    if not store.exists(MARK):
        store.put(MARK, b'{"version":0}')  # the last to go
    entries = sorted(store.walk(""), key=_removal_order)
    below_tree = [entry.path for entry in entries if entry.path.startswith(f"{TREE}/")]
    for branch in {branch_of(path) for path in below_tree}:
        store.prune(f"{TREE}/{branch}")
    for entry in entries:
        store.delete(entry.path)
    store.prune("")
    return True


def _removal_order(entry: Entry) -> tuple[int, int]:
    """Order the files of a table for their removal, which may be interrupted.

    Versions go first, the latest last of them: what opens is whole. What else lies beside the
    manifests goes at the end: as long as it is there, the folder is known as a table's.
    """
    name = parse_name(entry.path.removeprefix(f"{FOLDER}/"))
    if name is not None:
        return 0, name.version
    return (2 if entry.path.startswith(f"{FOLDER}/") else 1), 0
