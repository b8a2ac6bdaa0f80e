"""Live rows of a whole table: ids of their own, versions in order."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyroaring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.checks import tables
from lanceref.checks.tables import Identities
from lanceref.core.context import Context, Finding
from lanceref.proto import rowids_pb2 as pb
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.lineage import STORED, open_lineage
from lanceref.table.rows import FragmentRows
from lanceref.validate import validate

from .manifests import NAME, minimal, parse


def _ids(values: list[int]) -> bytes:
    offsets = b"".join(value.to_bytes(8, "little") for value in values)
    array = pb.EncodedU64Array(u64_array={"values": offsets})
    return pb.RowIdSequence(segments=[pb.U64Segment(array=array)]).SerializeToString()


def _versions(values: list[int]) -> bytes:
    span = pb.U64Segment(range={"start": 0, "end": 1})
    runs = [pb.RowDatasetVersionRun(span=span, version=value) for value in values]
    return pb.RowDatasetVersionSequence(runs=runs).SerializeToString()


def _fragment(number: int, ids: list[int], deleted: set[int], **fields: object) -> dict:
    """A fragment without files: its rows have nothing but their lineage."""
    made = {"id": number, "physical_rows": len(ids), "inline_row_ids": _ids(ids), **fields}
    if deleted:
        made["deletion_file"] = {"file_type": 1, "num_deleted_rows": len(deleted)}
    return made


def _check(folder: Path, *fragments: tuple[list[int], set[int]], **fields: object) -> list[Finding]:
    """Look at fragments of (row ids, deleted offsets); deletions are written as bitmaps."""
    findings: list[Finding] = []
    store, ctx = LocalStore(folder), Context(NAME, findings=findings)
    made = [
        _fragment(number, ids, deleted, **fields) for number, (ids, deleted) in enumerate(fragments)
    ]
    flags = {"reader_feature_flags": 3, "writer_feature_flags": 3}
    manifest = parse(minimal(fragments=made, max_fragment_id=9, next_row_id=100, **flags))
    live = Identities(manifest, ctx)
    for fragment, (_, deleted) in zip(manifest.fragments, fragments, strict=True):
        if deleted:
            store.put(f"_deletions/{fragment.id}-0-0.bin", pyroaring.BitMap(deleted).serialize())
        rows = FragmentRows(fragment, Bases(store, manifest), ctx, stable_ids=True)
        live.check(rows, {name: open_lineage(name, rows.columns, ctx) for name in STORED})
    return findings


def test_a_moved_row_keeps_its_id(tmp_path):
    """Id 5 occurs twice; its old place is deleted."""
    assert [] == _check(tmp_path, ([4, 5, 6], {1}), ([5, 7], set()))


@pytest.mark.parametrize(
    ("fragments", "found"),
    [
        ([([4, 5, 5], set())], "row id 5 twice, in fragment 0"),
        ([([4, 5, 6], {0}), ([5, 7], set())], "row id 5 twice, in fragment 1"),
        ([([4, 5], set()), ([8], set()), ([9, 4], set())], "row id 4 twice, in fragment 2"),
    ],
)
def test_an_id_of_two_live_rows_is_reported(tmp_path, fragments, found):
    """In one fragment, in the next, and in one after that."""
    (finding,) = _check(tmp_path, *fragments)

    assert ("L.table.row-ids.unique", found) == (finding.clause, finding.found)


def test_an_id_at_the_next_one_is_reported(tmp_path):
    """The next id is 100: 99 has been given out, 100 has not."""
    assert [] == _check(tmp_path, ([99], set()))
    (finding,) = _check(tmp_path, ([1, 100], set()))

    assert "L.table.row-ids.next" == finding.clause
    assert ("row id 100, in fragment 0", "below next_row_id 100") == (finding.found, finding.wanted)


@pytest.mark.parametrize(
    ("created", "updated", "good"),
    [(1, 1, True), (0, 1, False), (2, 1, False), (1, 2, False), (None, 1, True), (1, None, True)],
)
def test_versions_lie_between_one_and_that_of_the_table(tmp_path, created, updated, good):
    """Created, then updated, in a table of version 1; without a sequence both are 1."""
    fields = {}
    if created is not None:
        fields["inline_created_at_versions"] = _versions([created])
    if updated is not None:
        fields["inline_last_updated_at_versions"] = _versions([updated])
    findings = _check(tmp_path, ([7], set()), **fields)

    assert ([] if good else ["L.table.row-versions.order"]) == [f.clause for f in findings]


rows = st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=12)


@given(st.lists(rows, max_size=4))
def test_a_duplicate_is_reported_exactly_when_there_is_one(tmp_path_factory, fragments):
    """Whatever is deleted, and wherever runs are cut."""
    folder = tmp_path_factory.mktemp("table")
    given_fragments = [
        ([row_id for row_id, _ in one], {at for at, (_, gone) in enumerate(one) if gone})
        for one in fragments
    ]
    live = [row_id for one in fragments for row_id, gone in one if not gone]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "RUN_ROWS", 3)
        findings = _check(folder, *given_fragments)

    assert (len(set(live)) < len(live)) == bool(findings)


@pytest.mark.oracle
def test_lineage_of_the_oracle_is_in_order(tmp_path):
    """Updates, inserts and deletes move and make ids; a compaction keeps them; 0 findings."""
    import lance

    table = pa.table({"a": range(90), "b": ["old"] * 90})
    dataset = lance.write_dataset(
        table, str(tmp_path), max_rows_per_file=30, enable_stable_row_ids=True
    )
    dataset.update({"b": "'new'"}, where="a % 3 = 0")
    dataset.merge_insert("a").when_matched_update_all().when_not_matched_insert_all().execute(
        pa.table({"a": [5, 200], "b": ["x", "y"]})
    )
    dataset.delete("a % 7 = 0")
    assert [] == validate(tmp_path, deep=True)

    dataset.optimize.compact_files(target_rows_per_fragment=1000)

    assert [] == validate(tmp_path, deep=True)
