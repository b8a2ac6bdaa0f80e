"""View: what a table holds, as far as the next operation on it is drawn from that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pylanceref
from lanceref.file.schema_view import project
from lanceref.index.vector.single_file import open_index
from pylanceref.dataset import LanceDataset

from lance_conformance.campaigns.histories.values import field_ids


@dataclass(frozen=True, slots=True)
class View:
    """A table: `place` is the expression that opens it, `names` those of all tables there are."""

    place: str
    name: str
    found: LanceDataset
    names: tuple[str, ...]

    def at(self, version: int) -> View:
        """Return the same table at another version."""
        _, _, branch = self.name.partition("/tree/")
        main = self.place.partition(".checkout_version")[0]
        reference = (branch, version) if branch else version
        place = f"{main}.checkout_version({reference!r})"
        return replace(self, place=place, found=self.found.checkout_version(version))

    @property
    def schema(self) -> pa.Schema:
        """Its schema."""
        return self.found.schema

    @property
    def versions(self) -> list[int]:
        """Its versions."""
        return [one["version"] for one in self.found.version_refs()]

    @property
    def fragment_ids(self) -> list[int]:
        """Numbers of its fragments."""
        return [one.fragment_id for one in self.found.get_fragments()]

    @property
    def is_early(self) -> bool:
        """Whether its files are of 0.1."""
        return self.found.data_storage_version == "0.1"

    @property
    def key(self) -> str | None:
        """Name of the column that has the keys."""
        kept = (field.name for field in self.schema if pa.types.is_int64(field.type))
        return next(kept, None)

    @property
    def indices(self) -> list[tuple[str, str, str]]:
        """Its indices: the name of each, the column it is over, and its type."""
        found = {
            one.name: (one.field_names[0], one.index_type.upper())
            for one in self.found.describe_indices()
            if one.field_names
        }
        return [(name, *found[name]) for name in sorted(found)]

    def is_bounded_apart(self, name: str) -> bool:
        """Whether segments of an SQ index have bounds each, or bounds of no vector.

        The oracle does not join such (D.index.vector-sq-merge), nor adds to such
        (D.index.vector-sq-of-nulls).
        """
        (index,) = (one for one in self.found._snapshot.indices.known if one.name == name)
        lengths = [
            open_index(one).auxiliary.partitions.lengths for one in index.segments if one.built
        ]
        return len(lengths) > 1 or any(not one.any() for one in lengths)

    @property
    def may_have_old_values(self) -> bool:
        """Whether an index may have values that rows with stable ids, or of two files, had."""
        fragments = self.found._snapshot.manifest.fragments
        return self.found.has_stable_row_ids or any(len(one.files) > 1 for one in fragments)

    @property
    def newest(self) -> View:
        """The newest version of the table."""
        return replace(self, found=pylanceref.dataset(self.found.uri))

    def is_kept(self, path: str) -> bool:
        """Whether the newest version of the table has the same column."""
        own, newest = (one.found.lance_schema.field(path) for one in (self, self.newest))
        return own is not None and newest is not None and own.id() == newest.id()

    def leads_early_file(self, number: int, name: str) -> bool:
        """Whether a 0.1 file of a fragment begins with that column, and others follow."""
        own, found = field_ids(self.found, name), self.found.get_fragment(number)
        files = [] if found is None else found.metadata.files
        return any(
            file.file_major_version == 0 and file.fields[0] in own and not {*file.fields} <= {*own}
            for file in files
        )

    def leaves_no_files(self, path: str) -> bool:
        """Whether a fragment has no file of a column other than the one at a path."""
        schema = self.found._snapshot.manifest.schema
        (left_out,) = project(schema, [path])
        kept = {one.id for one in schema.flat()} - {one.id for one in left_out.flat()}
        return any(
            not any(kept & {*file.fields} for file in fragment.metadata.files)
            for fragment in self.found.get_fragments()
        )

    def type_of(self, path: str) -> pa.DataType:
        """Return the type of a column, `a.b` for a part of one."""
        first, *others = path.split(".")
        kind = self.schema.field(first).type
        for name in others:
            kind = kind.field(name).type
        return kind

    def names_of(self, *tests: Callable[[pa.DataType], bool]) -> list[str]:
        """Return the names of columns whose type passes one of the tests."""
        return [one.name for one in self.schema if any(test(one.type) for test in tests)]

    def of(self, random: Random, *tests: Callable[[pa.DataType], bool]) -> str | None:
        """Return the name of any column whose type passes one of the tests."""
        fits = self.names_of(*tests)
        return random.choice(fits) if fits else None


def views(root: Path) -> list[View]:
    """Return every table below a folder: main, branches, clones."""
    names = tuple(str(one.parent.relative_to(root)) for one in sorted(root.rglob("_versions")))
    return [
        View(opening(name), name, pylanceref.dataset(str(root / name)), names) for name in names
    ]


def opening(name: str) -> str:
    """Return the expression that opens a table."""
    main, found, branch = name.partition("/tree/")
    opened = f"lance.dataset(root + '/{main}')"
    return f"{opened}.checkout_version(('{branch}', None))" if found else opened
