"""Homes: the bases of a table, and in which of them the files of a write go.

A new table may name bases besides its root; each write may choose among those the table has, by
name or path, one after the other.

Clauses: L.table.base.unique, L.table.base.folder
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.core.errors import DataRefused
from lanceref.proto import table_pb2
from lanceref.table.bases import open_base
from lanceref.table.data_files import FOLDER, Home

from pylanceref.operation import DatasetBasePath
from pylanceref.write_target import Target

Bases = Sequence[table_pb2.BasePath]


def bases_of(target: Target, mode: str, initial: Sequence[DatasetBasePath] | None) -> Bases:
    """Return the bases that the table has, or gets as it is made.

    Raises DataRefused for new bases of a table that is there, and for an id used twice.
    """
    if target.base is not None:
        if initial:
            raise DataRefused(
                f"Cannot register new bases in {mode.capitalize()} mode. "
                "Only CREATE mode can register new bases."
            )
        return list(target.base.message.base_paths)
    made: list[table_pb2.BasePath] = []
    next_id = 1
    for base in initial or ():
        if not isinstance(base, DatasetBasePath):
            raise ValueError("initial_bases must contain DatasetBasePath objects only")
        own = base.id or next_id
        next_id += not base.id
        if own in [other.id for other in made]:
            raise DataRefused(
                f"Duplicate base path ID {own} detected. Base path IDs must be unique."
            )
        made.append(
            table_pb2.BasePath(
                id=own, name=base.name, is_dataset_root=base.is_dataset_root, path=base.path
            )
        )
    return made


def homes_of(
    target: Target, bases: Bases, chosen: Sequence[str] | None, everywhere: bool | None
) -> list[Home]:
    """Return where files go in turn; `everywhere` is all bases, and the root too if it is true.

    Raises DataRefused for a base that the table does not have, and for both ways of choosing.
    """
    if isinstance(chosen, str):
        raise TypeError(f"target_bases must be a list of names, got {chosen!r}")
    root = Home(target.store)
    if chosen and everywhere is not None:
        raise DataRefused(
            "Cannot specify target_all_bases together with target_bases or "
            "target_base_names_or_paths."
        )
    if everywhere is not None:
        homes = [root] if everywhere else []
        homes += [_home(target, base) for base in bases]
        if not homes:
            raise DataRefused(
                "target_all_bases found no registered bases and include_primary is false. "
                "Register bases or include primary storage."
            )
        return homes
    return [_named(target, bases, name) for name in chosen or ()] or [root]


def _named(target: Target, bases: Bases, name: str) -> Home:
    for base in bases:
        if base.HasField("name") and base.name == name:
            return _home(target, base)
    for base in bases:
        if base.path == name:
            return _home(target, base)
    if name == target.uri:
        return Home(target.store)
    raise DataRefused(f"Base reference '{name}' not found in available bases")


def _home(target: Target, base: table_pb2.BasePath) -> Home:
    store = open_base(target.store, base, target.base.message.branch if target.base else "")
    return Home(store, FOLDER if base.is_dataset_root else "", base.id)
