"""Succession: a version made once more out of the one before."""

from dataclasses import replace

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.manifest import open_manifest
from lanceref.transactions.apply import check_succession
from pylanceref import LanceOperation, dataset, write_dataset


def _latest(root, ctx):
    store = LocalStore(str(root))
    return open_manifest(store.open(find_version(store, ctx, None).path), ctx)


def _findings(root, edit=lambda message: None, **changes):
    """What is found of the latest version of the table at `root` once it is edited."""
    ctx = Context("m", findings=[])
    manifest = _latest(root, Context("m"))
    edit(manifest.message)
    check_succession(LocalStore(str(root)), replace(manifest, **changes), ctx)
    return [finding.clause for finding in ctx.findings]


@pytest.fixture
def deleted(tmp_path):
    """Version 2 of a table with stable row ids: row 1 of two fragments of two is deleted."""
    table = pa.table({"a": range(4)})
    write_dataset(table, tmp_path, max_rows_per_file=2, enable_stable_row_ids=True)
    dataset(tmp_path).delete("a = 1")
    return tmp_path


STEPS = {
    "append": lambda made: write_dataset(pa.table({"a": [9]}), made.uri, mode="append"),
    "overwrite": lambda made: write_dataset(pa.table({"b": [9]}), made.uri, mode="overwrite"),
    "update": lambda made: made.update({"a": "a + 1"}, where="a = 2"),
    "add": lambda made: made.add_columns({"b": "a + 1"}),
    "drop": lambda made: made.drop_columns(["a"]),
    "compact": lambda made: made.optimize.compact_files(),
    "config": lambda made: made.update_config({"k": "v"}),
    "restore": lambda made: dataset(made.uri, version=1).restore(),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_a_commit_made_succeeds(step, deleted):
    """Nothing is found after any kind of commit."""
    made = dataset(deleted)
    made.add_columns({"z": "a * 2"})
    STEPS[step](dataset(deleted))

    assert _latest(deleted, Context("m")).version >= 4
    assert [] == _findings(deleted)


EDITS = {
    "L.txn.op.delete": lambda m: m.fragments[0].deletion_file.__setattr__("id", 1),
    "L.table.flags.sticky": lambda m: m.__setattr__("reader_feature_flags", 256 | 2 | 1),
}


@pytest.mark.parametrize("clause", EDITS)
def test_what_differs_is_found(clause, deleted):
    """Another deletion file, a flag that came from nowhere."""
    assert [clause] == _findings(deleted, EDITS[clause])


def test_an_older_read_version_of_a_delete(deleted):
    """It is rebased: the version it was built on is the one before."""
    transaction = _latest(deleted, Context("m")).transaction
    transaction.read_version = 0

    assert ["L.txn.rebase.read-version"] == _findings(deleted, transaction=transaction)


def test_what_does_not_fit_is_found(deleted):
    """A DataReplacement in a fragment that does not exist could not be committed."""
    transaction = _latest(deleted, Context("m")).transaction
    transaction.data_replacement.replacements.add(fragment_id=9)

    assert ["L.txn.op.data-replacement"] == _findings(deleted, transaction=transaction)


@pytest.mark.parametrize("change", [{"version": 9}, {"version": 2**63 + 2}, {"version": 1}, {}])
def test_versions_without_a_known_past_are_passed_over(change, deleted):
    """One whose predecessor is gone, a detached one, the first, one of an older writer."""

    def edit(message):
        message.fragments[0].deletion_file.id = 1
        for name, value in change.items():
            setattr(message, name, value)
        if not change:
            message.ClearField("transaction_section")

    assert [] == _findings(deleted, edit)


def test_an_append_over_another_one_is_what_both_say(tmp_path):
    """It keeps its read version, and is held against the version before it."""
    write_dataset(pa.table({"a": [1]}), tmp_path)
    write_dataset(pa.table({"a": [2]}), tmp_path, mode="append")
    operation = LanceOperation.Append([])
    dataset(tmp_path).commit(str(tmp_path), operation, read_version=1)

    assert 3 == _latest(tmp_path, Context("m")).version
    assert [] == _findings(tmp_path)
