"""Validate and explain: every broken clause, every byte, whoever looks."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref.data_file.check import check_data_file
from lanceref.index.vector.single_file import check_vector_file
from lanceref.inspection import checker, explain_source, validate
from lanceref.proto import rowids_pb2
from lanceref.storage import BytesSource
from lanceref.table.deletions import read_deletions
from lanceref.table.manifest import open_manifest
from lanceref.table.refs import check_reference
from lanceref.transactions.transaction import check_transaction
from lanceref_spark import validation
from lanceref_spark.jobs import Loop, Processes
from lanceref_spark.validation import validate_with

from .file.files import WORKED_FILE
from .table.hand_made import FIELDS, FORM, put
from .table.manifests import NAME, WORKED, data_file, footer, fragment, minimal

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


def test_the_lowest_id_that_another_fragment_has_is_named(tmp_path):
    """Of five, six and seven in two fragments."""
    ids = rowids_pb2.RowIdSequence(segments=[{"range": {"start": 5, "end": 8}}])
    own = {"physical_rows": 3, "inline_row_ids": ids.SerializeToString()}
    flags = {"reader_feature_flags": 2, "writer_feature_flags": 2, "next_row_id": 8}
    table = _table(tmp_path, *(fragment(number, FILE, **own) for number in (0, 1)), **flags)
    (table / "data" / "worked.lance").write_bytes(WORKED_FILE)

    found = {one.clause: one.found for one in validate(table, deep=True)}
    assert {"L.table.row-ids.unique": "row id 5 twice, in fragment 1"} == found


def test_where_nothing_is_nothing_is_validated(tmp_path):
    """No path, no table, no such version."""
    with pytest.raises(NotFound):
        validate(tmp_path / "none")
    with pytest.raises(NotFound):
        validate(tmp_path)
    with pytest.raises(NotFound):
        validate(_table(tmp_path), version=9)


def test_the_name_decides_what_a_file_is():
    """Everything else is a data file; those of vector indices may be single files of old."""
    assert open_manifest is checker("t/_versions/1.manifest")
    assert check_transaction is checker("0-x.txn")
    assert read_deletions is checker("0-1-2.arrow") is checker("0-1-2.bin")
    assert check_reference is checker("_refs/tags/x.json")
    assert check_data_file is checker("page_data.lance")
    assert check_vector_file is checker("index.idx")


def test_bytes_nobody_refers_to_are_named():
    """Junk between sections is owned as such, and is no finding: readers accept it."""
    junk = WORKED[:72] + b"junk" + WORKED[72:197] + footer(76)
    explained = explain_source(BytesSource(junk, NAME))

    assert ([], []) == (explained.unowned, explained.findings)
    assert 4 == explained.bytes_per_kind()["unreferenced"]


def test_damage_is_told_not_raised():
    """A broken footer: one finding, the rest unowned."""
    explained = explain_source(BytesSource(WORKED[:-1] + b"X", NAME))

    assert ["L.table.manifest.magic"] == [finding.clause for finding in explained.findings]
    assert [(0, 197)] == explained.unowned


@pytest.mark.parametrize(
    ("path", "data", "leaf", "clauses"),
    [
        ("t/_refs/tags/a.json", b'{"version": 1}', "tag", []),
        ("t/_refs/tags/a.json", b"{}", "tag", ["L.table.refs.tag"]),
        ("t/_refs/branches/b.json", b'{"parentVersion": 1}', "branch", []),
        ("t/_refs/branches/b.json", b"[", "branch", ["L.table.refs.branch"]),
        ("t/_versions/latest_version_hint.json", b"nothing", "hint", []),
        ("t/data/a/10.blob", b"\0any", "payloads", []),
    ],
)
def test_references_and_blobs_are_told_by_their_names(path, data, leaf, clauses):
    """A tag and a branch are checked by themselves; nothing depends on a hint."""
    explained = explain_source(BytesSource(data, path))

    assert clauses == [finding.clause for finding in explained.findings]
    assert [(leaf, len(data))] == [(one.name, one.end) for one in explained.root.leaves()]


@pytest.fixture
def table(tmp_path):
    """A table of stable row ids in five fragments, with deletions and two indices."""
    rows = pa.table({"a": range(100), "b": [str(i % 7) for i in range(100)]})
    made = pylanceref.write_dataset(
        rows, str(tmp_path / "t"), max_rows_per_file=20, enable_stable_row_ids=True
    )
    made.delete("a % 10 = 3")
    made.create_scalar_index("a", "BTREE")
    made.create_scalar_index("b", "BITMAP")
    return made


def damage(path, at):
    """Turn one byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x20
    path.write_bytes(data)


def units(report):
    return [one.unit.kind for one in report.checked]


def test_a_sound_table_is_looked_at_whole(table, monkeypatch):
    """Every fragment and segment is a unit or part of one, and nothing is found."""
    monkeypatch.setattr(validation, "GROUP_FRAGMENTS", 2)
    report = validate_with(Loop(), table.uri, deep=True)
    assert report.findings == []
    assert report.version == table.version
    assert units(report) == [
        "table", "fragments", "fragments", "fragments", "identities", "indices",
        "segment", "segment", "log", "rows", "rows",
    ]  # fmt: skip
    groups = [one.unit.fragments for one in report.checked if one.unit.fragments]
    assert groups == [(0, 1), (2, 3), (4,)]
    assert units(validate_with(Loop(), table.uri)) == [
        "table", "fragments", "fragments", "fragments", "indices", "segment", "segment", "log",
    ]  # fmt: skip


def test_processes_find_what_the_loop_finds(table, monkeypatch):
    """A damaged data file, deletion file and index: the same findings in the same order, which are
    those of `validate`."""
    root = Path(table.uri)
    last = table.get_fragments()[-1].data_files()[0].path
    damage(root / "data" / last, -4)
    damage(next(root.glob("_deletions/0-*")), 0)
    damage(min(root.glob("_indices/*/*")), -4)
    expected = validate_with(Loop(), table.uri, deep=True)
    assert len({one.file for one in expected.findings}) == 3
    assert expected == validate_with(Processes(2), table.uri, deep=True)
    key = repr
    assert sorted(expected.findings, key=key) == sorted(validate(table.uri, deep=True), key=key)


@pytest.mark.parametrize("version", ["0.1", "2.0", "2.1", "2.3"])
def test_a_large_fragment_is_shared_out_by_its_pages(version, tmp_path, monkeypatch):
    """Many units decode its files, each page in one of them, and find what `validate` finds."""
    rows = pa.table({"a": range(9000), "b": [[str(i)] * (i % 3) for i in range(9000)]})
    path = tmp_path / "t"
    made = pylanceref.write_dataset(rows, str(path), data_storage_version=version)
    file = path / "data" / made.get_fragments()[0].data_files()[0].path
    monkeypatch.setattr(validation, "GROUP_BYTES", -(-file.stat().st_size // 4))
    report = validate_with(Loop(), str(path), deep=True)
    assert report.findings == []
    assert units(report).count("pages") == (0 if version == "0.1" else 4)
    for at in range(100, file.stat().st_size, file.stat().st_size // 12):
        damage(file, at)
        found = {repr(one) for one in validate_with(Loop(), str(path), deep=True).findings}
        assert found >= {repr(one) for one in validate(str(path), deep=True)}
        damage(file, at)


def test_a_size_that_no_file_has_makes_no_endless_list_of_units(table, monkeypatch):
    """A manifest claims a file of 2^62 bytes: as many shares as there may be, and a finding."""
    monkeypatch.setattr(validation, "MAX_SHARES", 3)
    fragment = table.get_fragments()[0].metadata
    fragment.files[0].file_size_bytes = 1 << 62
    monkeypatch.setattr(validation, "GROUP_BYTES", 1 << 20)
    operation = pylanceref.LanceOperation.Overwrite(table.schema, [fragment])
    claimed = pylanceref.LanceDataset.commit(table.uri, operation)
    report = validate_with(Loop(), claimed.uri, deep=True)
    assert units(report).count("pages") == 3
    assert report.findings
