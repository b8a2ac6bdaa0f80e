"""Lockstep: two tables on which the reference and the oracle do the same.

A line is an expression that either implementation can follow: `lance` is its module, `root` the
folder. Each line is followed by one of them on the one table and by the other on the other;
`crossed` says which, so that each goes on with what the other wrote. Afterwards the tables must be
the same, whoever reads them. What chance or the clock decides is left out: names of files, uuids,
timestamps, sizes of files, and where a section of the manifest lies.
"""

from __future__ import annotations

import re
import shutil
from base64 import b64decode
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pyarrow as pa
import pylanceref
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from lanceref.proto import table_pb2
from pylanceref.dataset import LanceDataset
from pyroaring import BitMap

from lance_conformance import oracle
from lance_conformance.campaigns.guarded import Told, guarded
from lance_conformance.campaigns.histories.answers import answered_differently
from lance_conformance.campaigns.histories.values import LINE_NAMES
from lance_conformance.campaigns.histories.view import View, opening
from lance_conformance.compare import first_difference

CHANCE = frozenset(
    {
        *("timestamp", "transaction_file", "index_section", "transaction_section", "uuid"),
        "version_aux_data",
        *("writer_version", "file_size_bytes", "size_bytes", "created_at", "manifest_size"),
        *("create_at", "updated_at", "branch_identifier", "inline_row_ids"),
        *("inline_created_at_versions", "inline_last_updated_at_versions"),
    }
)
"""Names of what no two writes have in common."""

UNORDERED = frozenset(
    {
        *("updated_fragments", "removed_fragment_ids", "deleted_fragment_ids", "update_entries"),
        *("base_paths", "new_indices", "removed_indices", "rewritten_indices", "new_index_files"),
        "fields_for_preserving_frag_bitmap",
    }
)
"""Lists that the oracle fills from a hash map, or in the order of one that it has so filled."""

SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")
"""Columns that every table has."""

_FILE_NAME = re.compile(r"^[0-9a-fA-F-]{30,}\.lance$")

State = Mapping[str, object]


def observe(found: LanceDataset, root: str) -> State:
    """Return what the manifest of a table, its transaction, its tags and branches say.

    Paths below `root` become relative to it. Sequences of row ids and versions are left out: how
    they are cut is the writer's choice, and who reads the rows sees them.
    """
    manifest = found._snapshot.manifest
    live = {one.id for one in manifest.fragments}
    told = {
        "versions": [one["version"] for one in found.version_refs()],
        "manifest": _told(manifest.message),
        "indices": sorted((_index(one, live) for one in manifest.indices), key=_entry),
        "transaction": None if manifest.transaction is None else _told(manifest.transaction),
        "tags": found.tags.list(),
        "branches": found.branches.list(),
    }
    return cast("State", plain(told, root))


def _told(message: Message) -> dict[str, object]:
    told: dict[str, object] = MessageToDict(message, preserving_proto_field_name=True)
    return told


def _index(entry: table_pb2.IndexMetadata, live: Set[int]) -> dict[str, object]:
    """Return an entry; of several over no live fragment the oracle leaves open which one stays."""
    told = _told(entry)
    if live.isdisjoint(BitMap.deserialize(entry.fragment_bitmap)):
        return {name: told.get(name) for name in ("name", "fields", "index_details")}
    return told


def _entry(index: Mapping[str, object]) -> tuple[str, str]:
    """Return what entries of an index section are ordered by."""
    return str(index["name"]), str(index.get("fragment_bitmap"))


def plain(value: object, root: str) -> object:
    """Return a value without what is left to chance."""
    if isinstance(value, Mapping):
        kept = {k: plain(v, root) for k, v in value.items() if k not in CHANCE}
        if "num_deleted_rows" in kept:
            kept.pop("id", None)
        if "fragment_bitmap" in kept:
            bitmap = b64decode(cast("str", kept["fragment_bitmap"]))
            kept["fragment_bitmap"] = list(BitMap.deserialize(bitmap))
            kept["files"] = sorted(cast("list[object]", kept.get("files", [])), key=str)
            if "Inverted" in str(kept.get("index_details")):
                del kept["files"]  # how many partitions there are is the writer's choice
        for name in UNORDERED & kept.keys():
            kept[name] = sorted(cast("list[object]", kept[name]), key=str)
        return kept
    if isinstance(value, list | tuple):
        return [plain(one, root) for one in value]
    if isinstance(value, str):
        return "*.lance" if _FILE_NAME.match(value) else value.replace(root, "ROOT")
    return value


def outcome(value: object, root: str) -> object:
    """Return what an operation answered, as far as it says what it did."""
    if isinstance(value, str | int | Mapping | list | tuple):
        return plain(value, root)
    counts = ("fragments_removed", "fragments_added", "files_removed", "files_added")
    return {name: getattr(value, name) for name in counts if hasattr(value, name)}


def read(module: ModuleType, path: Path) -> pa.Table:
    """Read all rows, with all that a table knows of each, by either implementation."""
    found = module.dataset(str(path))
    columns = [field.name for field in found.schema]
    return found.to_table(columns=[*columns, *SYSTEM])


def apart(left: object, right: object, where: str = "") -> Iterator[str]:
    """Yield where two plain values differ."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}, key=str):
            yield from apart(left.get(key), right.get(key), f"{where}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right)):
            yield from apart(one, other, f"{where}[{number}]")
    elif left != right:
        yield f"{where}: {str(left)[:300]} and {str(right)[:300]}"


@dataclass(frozen=True, slots=True)
class Line:
    """A step and the name of its kind: a line that is `crossed` the oracle follows on the right."""

    text: str
    crossed: bool = False
    name: str = ""


@dataclass(slots=True)
class Step:
    """What became of a line: the error of each side, and where the tables then differed."""

    line: Line
    refused: tuple[str, str] = ("", "")
    differences: list[str] = field(default_factory=list)


class Lockstep:
    """Two tables below `folder`, the same but for chance."""

    def __init__(self, folder: Path) -> None:
        self.roots = [folder / "left", folder / "right"]
        for root in self.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
        self._files: dict[Path, int] = {}

    def follow(self, line: Line) -> Step:
        """Let both implementations follow a line, and compare the tables."""
        theirs, ours = reversed(self.roots) if line.crossed else self.roots
        told = _run(line.text, oracle.lance(), theirs)
        mine = _run(line.text, pylanceref, ours)
        step = Step(line, (told.error, mine.error))
        if bool(told.error) != bool(mine.error):
            who = "oracle" if told.error else "reference"
            step.differences.append(f"refused by the {who}: {told.error or mine.error}")
            return step
        step.differences.extend(apart(told.value, mine.value, "result"))
        read = guarded(lambda: step.differences.extend(self._differences(line.text)))
        if read.error:
            step.differences.append(f"cannot be read: {read.error}")
        return step

    def _differences(self, seed: str) -> Iterator[str]:
        left, right = (_tables(root) for root in self.roots)
        yield from apart(sorted(left), sorted(right), "tables")
        touched = self._touched()
        for name in sorted({*left} & {*right}):
            if not any(root / name in touched for root in self.roots):
                continue
            state = observe(left[name], str(self.roots[0]))
            yield from apart(state, observe(right[name], str(self.roots[1])), name)
            readings = self._readings(name)
            yield from _read_differently(name, readings)
            if not any(told.error for told in readings.values()):
                view = View(opening(name), name, left[name], tuple(left))
                yield from answered_differently(seed, view, self.roots, _readers())

    def _touched(self) -> set[Path]:
        """Return the folders in which a file is new or another since the last time.

        Where one is gone every table may have lost something: then all folders are.
        """
        paths = (path for root in self.roots for path in root.rglob("*") if path.is_file())
        before, self._files = self._files, {path: path.stat().st_mtime_ns for path in paths}
        gone = not before.keys() <= self._files.keys()
        changed = (path for path, at in self._files.items() if gone or before.get(path) != at)
        return {folder for path in changed for folder in path.parents}

    def _readings(self, name: str) -> dict[str, Told]:
        """Return the four readings of a table: both tables, by both."""
        return {
            f"{root.name} read by {module.__name__}": guarded(partial(read, module, root / name))
            for root in self.roots
            for module in _readers()
        }


def _read_differently(name: str, readings: Mapping[str, Told]) -> Iterator[str]:
    """Yield how readings differ; a table whose files a cleanup elsewhere has taken has none."""
    expected = next(iter(readings.values()))
    for who, told in readings.items():
        if bool(told.error) != bool(expected.error):
            yield f"{name}: {who}: {told.error or expected.error}"
        elif not told.error and (where := first_difference(expected.value, told.value)):
            yield f"{name}: {who}: {where}"


def _run(text: str, lance: ModuleType, root: Path) -> Told:
    """Evaluate a line; an error is an answer."""
    names = {**LINE_NAMES, "lance": lance, "root": str(root), "pa": pa, "timedelta": timedelta}
    return guarded(lambda: outcome(eval(text, names), str(root)))


def _readers() -> tuple[ModuleType, ModuleType]:
    return oracle.lance(), pylanceref


def _tables(root: Path) -> dict[str, Any]:
    """Return every table below a folder, by its path there: main, branches, clones."""
    return {
        str(path.parent.relative_to(root)): pylanceref.dataset(str(path.parent))
        for path in sorted(root.rglob("_versions"))
    }
