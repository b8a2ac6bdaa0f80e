"""View: the state of a table from which the next operation is drawn."""

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
    """A table: `source` is the expression that opens it, `names` are those of all tables."""

    source: str
    name: str
    dataset: LanceDataset
    names: tuple[str, ...]

    def at(self, version: int) -> View:
        """Return the same table at another version."""
        _, _, branch = self.name.partition("/tree/")
        main = self.source.partition(".checkout_version")[0]
        reference = (branch, version) if branch else version
        source = f"{main}.checkout_version({reference!r})"
        return replace(self, source=source, dataset=self.dataset.checkout_version(version))

    @property
    def schema(self) -> pa.Schema:
        """Its Arrow schema."""
        return self.dataset.schema

    @property
    def versions(self) -> list[int]:
        """Numbers of its versions."""
        return [one["version"] for one in self.dataset.version_refs()]

    @property
    def fragment_ids(self) -> list[int]:
        """Ids of its fragments."""
        return [one.fragment_id for one in self.dataset.get_fragments()]

    @property
    def is_legacy(self) -> bool:
        """Whether its files have version 0.1."""
        return self.dataset.data_storage_version == "0.1"

    @property
    def key(self) -> str | None:
        """Name of the key column, or None."""
        names = (field.name for field in self.schema if pa.types.is_int64(field.type))
        return next(names, None)

    @property
    def indices(self) -> list[tuple[str, str, str]]:
        """Name, column and type of each index."""
        indices = {
            one.name: (one.field_names[0], one.index_type.upper())
            for one in self.dataset.describe_indices()
            if one.field_names
        }
        return [(name, *indices[name]) for name in sorted(indices)]

    def has_separate_bounds(self, name: str) -> bool:
        """Whether an SQ index has several segments, or one without vectors.

        The oracle does not merge the former (D.index.vector-sq-merge), and does not append to the
        latter (D.index.vector-sq-of-nulls).
        """
        (index,) = (one for one in self.dataset._snapshot.indices.known if one.name == name)
        lengths = [
            open_index(one).auxiliary.partitions.lengths for one in index.segments if one.built
        ]
        return len(lengths) > 1 or any(not one.any() for one in lengths)

    @property
    def may_have_old_values(self) -> bool:
        """Whether an index may have old values of rows with stable ids or in several files."""
        fragments = self.dataset._snapshot.manifest.fragments
        return self.dataset.has_stable_row_ids or any(len(one.files) > 1 for one in fragments)

    @property
    def newest(self) -> View:
        """The newest version of the table."""
        return replace(self, dataset=pylanceref.dataset(self.dataset.uri))

    def is_in_newest(self, path: str) -> bool:
        """Whether the newest version of the table has the column with the same id."""
        own, newest = (one.dataset.lance_schema.field(path) for one in (self, self.newest))
        return own is not None and newest is not None and own.id() == newest.id()

    def starts_legacy_file(self, number: int, name: str) -> bool:
        """Whether a 0.1 file of a fragment begins with that column, and has others."""
        ids, fragment = field_ids(self.dataset, name), self.dataset.get_fragment(number)
        files = [] if fragment is None else fragment.metadata.files
        return any(
            file.file_major_version == 0 and file.fields[0] in ids and not {*file.fields} <= {*ids}
            for file in files
        )

    def leaves_no_files(self, path: str) -> bool:
        """Whether a fragment has files of the column at a path alone."""
        schema = self.dataset._snapshot.manifest.schema
        (dropped,) = project(schema, [path])
        others = {one.id for one in schema.flat()} - {one.id for one in dropped.flat()}
        return any(
            not any(others & {*file.fields} for file in fragment.metadata.files)
            for fragment in self.dataset.get_fragments()
        )

    def type_of(self, path: str) -> pa.DataType:
        """Return the type of a column, or of a field `a.b` of a struct."""
        first, *others = path.split(".")
        kind = self.schema.field(first).type
        for name in others:
            kind = kind.field(name).type
        return kind

    def names_of(self, *tests: Callable[[pa.DataType], bool]) -> list[str]:
        """Return the names of columns whose type passes one of the tests."""
        return [one.name for one in self.schema if any(test(one.type) for test in tests)]

    def choose_column(self, random: Random, *tests: Callable[[pa.DataType], bool]) -> str | None:
        """Return the name of a random column whose type passes one of the tests, or None."""
        names = self.names_of(*tests)
        return random.choice(names) if names else None


def list_views(root: Path) -> list[View]:
    """Return every table below a folder: main, branches, clones."""
    names = tuple(str(one.parent.relative_to(root)) for one in sorted(root.rglob("_versions")))
    return [
        View(open_expression(name), name, pylanceref.dataset(str(root / name)), names)
        for name in names
    ]


def open_expression(name: str) -> str:
    """Return the expression that opens a table."""
    main, is_branch, branch = name.partition("/tree/")
    table = f"lance.dataset(root + '/{main}')"
    return f"{table}.checkout_version(('{branch}', None))" if is_branch else table
