"""Attacks: every way a table is made hostile, and the bases each works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lance_conformance.campaigns.damage.whole import (
    bombs,
    manifests,
    pages,
    places,
    references,
)
from lance_conformance.campaigns.damage.whole.bases import BASES

ALL = tuple(BASES)
INDEXED = tuple(name for name, base in BASES.items() if base.index is not None)
COLUMNAR = tuple(name for name, base in BASES.items() if base.version != "legacy")
STABLE = tuple(name for name, base in BASES.items() if base.stable_row_ids)
COVERED = ("overlay-2.1",)


@dataclass(frozen=True, slots=True)
class Attack:
    """Makes a table hostile, and tells how; `bases` are those it works on.

    With `by_link` base paths of the table lead out of it: a reader may follow, a writer may add
    files, but none may change or vanish. The user `nobody` works `as_nobody`:
    nothing is hidden from root.
    """

    make: Callable[[Path, Random], str]
    bases: tuple[str, ...] = ALL
    by_link: bool = False
    as_nobody: bool = False


ATTACKS: dict[str, Attack] = {
    "many fragments": Attack(manifests.many_fragments),
    "repeated pages": Attack(pages.repeated_pages, COLUMNAR),
    "unknown fields": Attack(manifests.unknown),
    "unknown in columns": Attack(pages.unknown_in_columns, COLUMNAR),
    "any in any": Attack(manifests.nested_any),
    "strange schema": Attack(manifests.strange_schema),
    "manifest": Attack(manifests.changed_fields),
    "fragment": Attack(manifests.changed_fragment),
    "indices": Attack(manifests.changed_indices, INDEXED),
    "transaction": Attack(manifests.changed_transaction),
    "paths": Attack(manifests.wandering_paths),
    "many indices": Attack(manifests.many_indices),
    "base paths": Attack(manifests.strange_bases, by_link=True),
    "settings": Attack(manifests.strange_settings),
    "deletions": Attack(bombs.deletions),
    "row ids": Attack(bombs.row_ids, STABLE),
    "overlays": Attack(bombs.overlays, COVERED),
    "covered fragments": Attack(bombs.covered_fragments, INDEXED),
    "columns": Attack(pages.changed_columns, COLUMNAR),
    "encodings": Attack(pages.changed_encoding, COLUMNAR),
    "index file": Attack(pages.changed_index_file, INDEXED),
    "file schema": Attack(pages.changed_schema, COLUMNAR),
    "wandering tag": Attack(references.wandering_tag),
    "wandering branch": Attack(references.wandering_branch),
    "strange reference": Attack(references.strange_reference),
    "no json": Attack(references.no_json),
    "many references": Attack(references.many_references),
    "strange branch": Attack(references.strange_branch),
    "fifo": Attack(places.fifo),
    "socket": Attack(places.unix_socket),
    "device": Attack(places.device),
    "folder for file": Attack(places.folder_for_file),
    "file for folder": Attack(places.file_for_folder),
    "unreadable": Attack(places.unreadable, as_nobody=True),
    "link loop": Attack(places.link_loop),
    "dangling link": Attack(places.dangling_link),
    "link to file": Attack(places.link_to_file),
    "link to folder": Attack(places.link_to_folder),
    "sparse": Attack(places.sparse),
    "missing": Attack(places.missing),
    "other content": Attack(places.other_content),
    "strange names": Attack(places.strange_names),
    "many files": Attack(places.many_files),
    "deep folders": Attack(places.deep_folders),
}
"""Attacks by kind."""
