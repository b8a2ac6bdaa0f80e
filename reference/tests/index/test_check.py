"""Indices, checked."""

from __future__ import annotations

import random
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.core.errors import LanceError
from lanceref.transactions.manifest_builder import Staged
from pylanceref.indices import IndexConfig

from .tables import ids, write

TABLE = pa.table(
    {
        "i": [n * 7 % 50 for n in range(200)],
        "s": [f"word{n % 9}" for n in range(200)],
        "l": [[f"{n % 5}"] if n % 9 else None for n in range(200)],
        "f": [float(n) if n % 5 else float("nan") for n in range(200)],
    }
)
INDICES = {
    "btree": ("i", "BTREE"),
    "floats": ("f", "BTREE"),
    "bitmap": ("s", "BITMAP"),
    "labels": ("l", "LABEL_LIST"),
    "zones": ("f", IndexConfig("zonemap", {"rows_per_zone": 7})),
    "bloom": ("s", IndexConfig("bloomfilter", {"number_of_items": 7, "probability": 0.01})),
}


@pytest.fixture
def dataset(tmp_path):
    """A table with an index of each type."""
    written = write(TABLE, tmp_path, max_rows_per_file=80)
    for name, (column, kind) in INDICES.items():
        written.create_scalar_index(column, kind, name=name)
    return written


def clauses(dataset) -> list[str]:
    """Return the clauses that a deep look finds broken."""
    return [finding.clause for finding in lanceref.validate(dataset.uri, deep=True)]


def test_what_we_write_is_whole(dataset):
    """Nothing is found."""
    assert clauses(dataset) == []


@pytest.mark.oracle
def test_what_the_oracle_writes_is_whole(tmp_path):
    """Nothing is found."""
    import lance
    from lance.indices import IndexConfig as Other

    path = str(tmp_path / "t")
    theirs = lance.write_dataset(TABLE, path, max_rows_per_file=80)
    for name, (column, kind) in INDICES.items():
        given = kind if isinstance(kind, str) else Other(kind.index_type, kind.parameters)
        theirs.create_scalar_index(column, given, name=name)
    assert clauses(pylanceref.dataset(path)) == []


def test_a_file_that_is_gone_and_one_that_is_shorter(dataset, tmp_path):
    """Both are found."""
    first, second = dataset._snapshot.indices.segments[:2]
    (tmp_path / "t" / first.folder / "page_data.lance").unlink()
    path = tmp_path / "t" / second.folder / "page_lookup.lance"
    path.write_bytes(path.read_bytes()[:-1])
    found = clauses(dataset)
    assert "L.index.segment.files" in found
    assert "L.index.files.size" in found


def test_entries_that_overlap_or_come_from_the_future(dataset):
    """Both are found."""
    entry = type(dataset._snapshot.manifest.indices[0])()
    entry.CopyFrom(dataset._snapshot.manifest.indices[0])
    entry.uuid.uuid = bytes(16)
    entry.dataset_version = 99
    del entry.files[:]
    transaction = dataset._new_transaction()
    transaction.create_index.new_indices.append(entry)
    dataset._commit(Staged(transaction))
    found = clauses(dataset)
    assert "L.index.segment.disjoint" in found
    assert "L.index.segment.dataset-version" in found


def test_damaged_files_give_only_errors_of_ours(dataset, tmp_path):
    """A byte changed anywhere: searches end in a `LanceError` or in rows, and so does a check."""
    source = random.Random(7)
    conditions = {"btree": "i = 3", "bitmap": "s = 'word3'", "labels": "array_has(l, '3')"}
    refused = 0
    for segment in dataset._snapshot.indices.segments:
        for file in segment.entry.files:
            path = tmp_path / "t" / segment.folder / file.path
            held = path.read_bytes()
            for _ in range(12):
                at = source.randrange(len(held))
                path.write_bytes(held[:at] + bytes([held[at] ^ 1 << at % 8]) + held[at + 1 :])
                clauses(dataset)
                try:
                    ids(
                        pylanceref.dataset(dataset.uri), conditions.get(segment.entry.name, "f = 3")
                    )
                except LanceError:
                    refused += 1
            path.write_bytes(held)
    assert refused > 0


FROZEN = Path(__file__).parents[3] / "fixtures" / "index" / "any"


@pytest.mark.parametrize(
    ("case", "clause"),
    [
        ("btree/neg-plain-pages", "L.index.btree.pages"),
        ("zonemap/lint-plain-nulls", "L.index.zones.nulls"),
        ("btree/lint-moved-order", "L.index.reuse.order"),
        ("btree/neg-moved-beside-elsewhere", "L.index.reuse.external"),
        ("inverted/neg-plain-format", "L.index.fts.format-version"),
    ],
)
def test_damage_that_no_query_has_to_see(case, clause):
    """A deep look names the clause, and finds nothing in a table that is whole."""
    found = [
        one.clause for one in lanceref.validate(materialised(FROZEN / case / "dataset"), deep=True)
    ]
    assert clause in found
    assert [] == lanceref.validate(materialised(FROZEN / "btree/moved-beside/dataset"), deep=True)


def test_early_files_do_not_keep_other_segments_from_being_looked_at(monkeypatch):
    """Those of 0.1 are passed over, and the rows are looked at nevertheless."""
    asked = []
    monkeypatch.setattr(
        "lanceref.checks.indices.check_against_rows",
        lambda index, *rest: asked.append(index.name),
    )
    path = materialised(FROZEN.parents[1] / "table/any/backward/0-20-0-indexed/dataset")
    found = lanceref.validate(path, deep=True)
    assert [] == [one.clause for one in found if one.severity == "must"]
    assert asked == [index.name for index in pylanceref.dataset(path)._snapshot.indices.known]
