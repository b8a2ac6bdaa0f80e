"""A whole table, checked."""

import pytest
from lanceref.checks.tables import check_dataset
from lanceref.core.context import Context
from lanceref.core.errors import NotFound
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import LocalStore

from ..file.files import WORKED_FILE
from .hand_made import put
from .manifests import data_file, footer, fragment, minimal, section

FIELDS = [{"name": "a", "id": 0, "parent_id": -1, "logical_type": "int32", "nullable": True}]
FORM = {"file_format": "lance", "version": "2.0"}
FILE = data_file(file_minor_version=0, path="worked.lance")


def _table(tmp_path, *fragments, data=WORKED_FILE, **more):
    given = {"fields": FIELDS, "data_format": FORM, "max_fragment_id": 9}
    root = put(tmp_path / "t", minimal(fragments=list(fragments), **{**given, **more}))
    (root / "data" / "worked.lance").write_bytes(data)
    return root


def _findings(root, *, version=None, deep=False):
    findings = []
    check_dataset(LocalStore(root), Context("t", findings=findings), version=version, deep=deep)
    return findings


def test_only_deep_checks_look_into_pages(tmp_path):
    """Padding of the data file is a matter of its own."""
    data = WORKED_FILE[:1] + b"X" + WORKED_FILE[2:]
    root = _table(tmp_path, fragment(0, FILE, physical_rows=3), data=data)

    assert [] == _findings(root)
    (finding,) = _findings(root, deep=True)
    assert ("L.file.padding.value", "worked.lance") == (finding.clause, finding.file)


def test_findings_name_their_files(tmp_path):
    """What is wrong in the manifest lies in the manifest, with its bytes."""
    gone = {**FILE, "path": "gone.lance"}
    (finding,) = _findings(_table(tmp_path, fragment(0, gone, physical_rows=0)))[:1]

    assert ("L.table.files.exist", "data/gone.lance") == (finding.clause, finding.wanted)
    assert finding.file.endswith(".manifest") and finding.size > 0


def test_a_broken_manifest_is_a_finding(tmp_path):
    """The refs are looked at nevertheless."""
    root = _table(tmp_path)
    (manifest,) = (root / "_versions").iterdir()
    manifest.write_bytes(b"short")
    (root / "_refs" / "tags").mkdir(parents=True)
    (root / "_refs" / "tags" / "t.json").write_bytes(b"{}")

    assert ["L.table.manifest.size", "L.table.refs.tag"] == [
        finding.clause for finding in _findings(root)
    ]


@pytest.mark.parametrize(("tag", "clauses"), [(1, []), (2, ["L.table.refs.exists"])])
def test_a_tag_names_a_version(tag, clauses, tmp_path):
    """Of the main branch; others are tables of their own."""
    root = _table(tmp_path)
    (root / "_refs" / "tags").mkdir(parents=True)
    (root / "_refs" / "tags" / "t.json").write_bytes(b'{"version": %d}' % tag)
    (root / "_refs" / "tags" / "b.json").write_bytes(b'{"version": 5, "branch": "dev"}')

    assert clauses == [finding.clause for finding in _findings(root)]


@pytest.mark.parametrize(
    ("name", "clauses"),
    [("v-1", []), ("v..1", ["L.table.refs.tag-name"]), (".v", ["L.table.refs.tag-name"])],
)
def test_a_tag_has_a_name_that_it_may_have(name, clauses, tmp_path):
    """Dots stand neither at its ends nor side by side."""
    root = _table(tmp_path)
    (root / "_refs" / "tags").mkdir(parents=True)
    (root / "_refs" / "tags" / f"{name}.json").write_bytes(b'{"version": 1}')

    assert clauses == [finding.clause for finding in _findings(root)]


def test_the_version_must_be_there(tmp_path):
    """There is nothing to validate."""
    with pytest.raises(NotFound):
        _findings(_table(tmp_path), version=5)


def test_deep_checks_compare_the_types(tmp_path):
    """The table says float, the file int32: both have four bytes, so nothing else tells."""
    fields = [{**FIELDS[0], "logical_type": "float"}]
    root = _table(tmp_path, fragment(0, FILE, physical_rows=3), fields=fields)
    (finding,) = _findings(root, deep=True)

    assert [] == _findings(root)
    assert ("L.table.datafile.type", "worked.lance") == (finding.clause, finding.file)
    assert ("int32 for field 0 ('a')", "float, as in the manifest") == (
        finding.found,
        finding.wanted,
    )


@pytest.mark.parametrize(
    ("stored", "clauses"),
    [
        ({}, []),
        ({"uuid": "v"}, ["L.txn.file.name", "L.txn.inline.same"]),
        ({"tag": "t"}, ["L.txn.inline.same"]),
    ],
)
def test_the_transaction_file_is_that_of_the_manifest(stored, clauses, tmp_path):
    """Its name says read version and uuid, its content is the inline one."""
    inline = Transaction(read_version=0, uuid="u")
    held = inline.SerializeToString()
    root = _table(tmp_path)
    (manifest,) = (root / "_versions").iterdir()
    message = minimal(
        fields=FIELDS, data_format=FORM, transaction_file="0-u.txn", transaction_section=0
    )
    body = section(held) + section(message.SerializeToString())
    manifest.write_bytes(body + footer(len(section(held))))
    (root / "_transactions").mkdir()
    other = Transaction(**{"read_version": 0, "uuid": "u", **stored})
    (root / "_transactions" / "0-u.txn").write_bytes(other.SerializeToString())

    assert clauses == [finding.clause for finding in _findings(root)]
