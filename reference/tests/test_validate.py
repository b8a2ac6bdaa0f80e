"""Validate: every broken clause of a file or a table."""

import lanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref.proto import rowids_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.validate import validate

from .file.files import WORKED_FILE
from .table.hand_made import put
from .table.manifests import NAME, WORKED, data_file, footer, fragment, minimal

FIELDS = [{"name": "a", "id": 0, "parent_id": -1, "logical_type": "int32", "nullable": True}]
FORM = {"file_format": "lance", "version": "2.0"}
FILE = data_file(file_minor_version=0, path="worked.lance")


def _table(tmp_path, *fragments, **more):
    given = {"fields": FIELDS, "data_format": FORM, "fragments": list(fragments)}
    given |= {"max_fragment_id": 9}
    return put(tmp_path / "t", minimal(**{**given, **more}))


def _clauses(path, **options):
    return [finding.clause for finding in validate(path, **options)]


def test_a_file_by_its_name(tmp_path):
    """A manifest, a data file: no finding; a broken one: all findings."""
    good, bad = tmp_path / NAME, tmp_path / "1.manifest"
    good.write_bytes(WORKED)
    bad.write_bytes(WORKED[:-16] + footer(72, 1, 1))
    (tmp_path / "f.lance").write_bytes(WORKED_FILE)

    assert [] == validate(good) == validate(tmp_path / "f.lance")
    (finding,) = validate(bad)
    assert ("L.table.manifest.footer-version", "1.manifest", 205) == (
        finding.clause,
        finding.file,
        finding.offset,
    )
    assert finding.found and finding.wanted and finding.message


def test_a_sound_table_has_no_finding(tmp_path):
    """Shallow and deep."""
    table = _table(tmp_path, fragment(0, FILE, physical_rows=3))
    (table / "data" / "worked.lance").write_bytes(WORKED_FILE)

    assert [] == validate(table) == validate(table, deep=True)
    assert [] == validate(f"file://{table}")


def test_all_faults_are_found_not_only_the_first(tmp_path):
    """A missing file, a missing deletion file, wrong rows: each in its fragment."""
    entry = {"num_deleted_rows": 1, "id": 1}
    table = _table(
        tmp_path,
        fragment(0, {**FILE, "path": "none"}, physical_rows=3),
        fragment(1, FILE, physical_rows=4),
        fragment(2, FILE, physical_rows=3, deletion_file=entry),
        reader_feature_flags=1,
        writer_feature_flags=1,
    )
    (table / "data" / "worked.lance").write_bytes(WORKED_FILE)
    found = _clauses(table)

    assert {"L.table.files.exist", "L.table.fragments.rows"} <= set(found)
    assert 2 <= found.count("L.table.files.exist")


def test_the_manifest_says_what_its_name_says(tmp_path):
    """Version 77 under the name of version 1."""
    assert ["L.table.naming.version"] == _clauses(_table(tmp_path, version=77))


def test_a_transaction_file_repeats_the_inline_one(tmp_path):
    """Another one under the name the manifest gives is reported, by name and by content."""
    root = put(tmp_path / "t")
    (root / "_versions" / NAME).write_bytes(WORKED)
    name = "0-f90e17ac-85c0-4857-b697-74211a7e0b3c.txn"
    (root / "_transactions").mkdir()

    assert [] == validate(root)
    (root / "_transactions" / name).write_bytes(Transaction(read_version=5).SerializeToString())
    assert ["L.txn.file.name", "L.txn.inline.same"] == _clauses(root)
    (root / "_transactions" / name).write_bytes(b"\xff")
    assert ["L.txn.file.message"] == _clauses(root)


def test_refs_are_checked(tmp_path):
    """A tag of a version that is not there, a branch that is no JSON."""
    root = put(tmp_path / "t")
    (root / "_refs" / "tags").mkdir(parents=True)
    (root / "_refs" / "tags" / "t.json").write_bytes(b'{"version": 4}')
    (root / "_refs" / "branches").mkdir()
    (root / "_refs" / "branches" / "b.json").write_bytes(b"[")

    assert ["L.table.refs.branch", "L.table.refs.exists"] == sorted(_clauses(root))


@pytest.mark.parametrize("rows", [2**31, 2**32 - 1])
def test_hostile_rows_cost_nothing(rows, tmp_path):
    """Ids and versions of rows that no file holds are neither expanded nor looped over."""
    span = {"range": {"end": rows}}
    ids = rowids_pb2.RowIdSequence(segments=[span])
    versions = rowids_pb2.RowDatasetVersionSequence(runs=[{"span": span, "version": 1}])
    one = {
        "id": 0,
        "physical_rows": rows,
        "inline_row_ids": ids.SerializeToString(),
        "inline_created_at_versions": versions.SerializeToString(),
    }
    flags = {"reader_feature_flags": 2, "writer_feature_flags": 2}
    wanted = ["L.table.limits.no-file"]

    assert wanted == sorted(set(_clauses(_table(tmp_path, one, **flags))))


def test_where_nothing_is_nothing_is_validated(tmp_path):
    """No path, no table, no such version."""
    with pytest.raises(NotFound):
        validate(tmp_path / "none")
    with pytest.raises(NotFound):
        validate(tmp_path)
    with pytest.raises(NotFound):
        validate(_table(tmp_path), version=9)


def test_module_and_function_share_a_name():
    """Both spellings work."""
    assert lanceref.validate is validate
