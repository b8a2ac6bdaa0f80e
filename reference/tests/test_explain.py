"""Explain: an owner for every byte."""

import lanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref.explain import checker, explain, explain_source
from lanceref.file_0_1.check import check_data_file
from lanceref.index.vector.single_file import check_vector_file
from lanceref.storage import BytesSource
from lanceref.table.deletions import check_deletion_file
from lanceref.table.manifest import check_manifest
from lanceref.table.refs import check_reference
from lanceref.transactions.transaction import check_transaction

from .table.manifests import NAME, WORKED, footer


def test_the_name_decides_what_a_file_is():
    """Everything else is a data file; those of vector indices may be single files of old."""
    assert check_manifest is checker("t/_versions/1.manifest")
    assert check_transaction is checker("0-x.txn")
    assert check_deletion_file is checker("0-1-2.arrow") is checker("0-1-2.bin")
    assert check_reference is checker("_refs/tags/x.json")
    assert check_data_file is checker("page_data.lance")
    assert check_vector_file is checker("index.idx")


def test_the_worked_manifest_is_owned_whole():
    """Sections, messages and footer; the fields are leaves with their values."""
    explained = explain_source(BytesSource(WORKED, f"somewhere/{NAME}"))
    leaves = {(leaf.name, leaf.start): leaf.value for leaf in explained.root.leaves()}

    assert ([], [], NAME) == (explained.unowned, explained.findings, explained.path)
    assert 72 == leaves["manifest_position", 197]
    assert 68 == leaves["length", 0] and 121 == leaves["length", 72]
    assert "int64" in leaves.values()
    assert len(WORKED) == sum(explained.bytes_per_kind().values())


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


def test_a_missing_file_is_not_found(tmp_path):
    """Neither is a folder a file."""
    with pytest.raises(NotFound):
        explain(tmp_path / "none.lance")
    with pytest.raises(NotFound):
        explain(tmp_path)


def test_module_and_function_share_a_name():
    """Both spellings work."""
    assert lanceref.explain is explain
    assert "explain" == explain.__name__


@pytest.mark.parametrize(
    ("path", "data", "leaf", "clauses"),
    [
        ("t/_refs/tags/a.json", b'{"version": 1}', "tag", []),
        ("t/_refs/tags/a.json", b"{}", "tag", ["L.table.refs.tag"]),
        ("t/_refs/branches/b.json", b'{"parentVersion": 1}', "branch", []),
        ("t/_refs/branches/b.json", b"[", "branch", ["L.table.refs.branch"]),
        ("t/_versions/latest_version_hint.json", b"nothing", "hint", []),
    ],
)
def test_references_are_told_by_their_folder(path, data, leaf, clauses):
    """A tag and a branch are checked by themselves; nothing depends on a hint."""
    explained = explain_source(BytesSource(data, path))

    assert clauses == [finding.clause for finding in explained.findings]
    assert [(leaf, len(data))] == [(one.name, one.end) for one in explained.root.leaves()]
