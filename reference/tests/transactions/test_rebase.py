"""Rebases."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CommitConflict
from lanceref.storage import LocalStore
from lanceref.table.roaring import parse_bitmap
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.rebase import rebase

from tests.table import manifests
from tests.transactions import versions


class _Gone:
    """A table whose fragments have the same rows deleted."""

    def __init__(self, root, *rows):
        self.store = LocalStore(root)
        self.rows = np.array(rows, np.int64)

    def deleted(self, before, fragment):
        return self.rows


def _delete(rows):
    entry = {"read_version": 1, "id": 1, "num_deleted_rows": len(rows)}
    fragment = manifests.fragment(0, versions.files(0, 1, 2), deletion_file=entry)
    given = versions.transaction(delete={"updated_fragments": [fragment]})
    return Staged(given, affected={0: np.array(rows, np.int64)})


THEIRS = [_delete([7]).transaction]


def test_deletions_of_different_rows_are_joined(tmp_path):
    """Rows 2, 3 and 7 are out, in a bitmap although they are few; the read version is new."""
    latest = versions.table(version=4)
    made = rebase(_delete([2, 3]), THEIRS, latest, _Gone(tmp_path, 7)).transaction
    entry = made.delete.updated_fragments[0].deletion_file
    data = (tmp_path / "_deletions" / f"0-4-{entry.id}.bin").read_bytes()

    assert (4, 1, 3) == (made.read_version, entry.file_type, entry.num_deleted_rows)
    assert [2, 3, 7] == parse_bitmap(Cursor(memoryview(data), 0, Context("d"))).tolist()


def test_a_row_that_is_gone_cannot_be_deleted_again(tmp_path):
    """The committer looks at its rows anew."""
    with pytest.raises(CommitConflict) as caught:
        rebase(_delete([2, 7]), THEIRS, versions.table(version=4), _Gone(tmp_path, 7))

    assert caught.value.retryable


def test_a_fragment_with_a_row_that_is_gone_is_not_removed(tmp_path):
    """The committer looks at its rows anew."""
    ours = Staged(versions.transaction(delete={"deleted_fragment_ids": [0]}), affected={})
    with pytest.raises(CommitConflict) as caught:
        rebase(ours, THEIRS, versions.table(version=4), _Gone(tmp_path, 7))

    assert caught.value.retryable


def test_a_fragment_whose_rows_are_all_out_goes(tmp_path):
    """Both deletions together leave none of its ten rows."""
    latest = versions.table(version=4)
    staged = _delete([0, 1, 2, 3, 4])
    made = rebase(staged, THEIRS, latest, _Gone(tmp_path, 5, 6, 7, 8, 9)).transaction

    assert [0] == list(made.delete.deleted_fragment_ids)
    assert list(staged.transaction.delete.updated_fragments) == list(made.delete.updated_fragments)


@pytest.mark.parametrize("theirs", [[], THEIRS])
def test_a_fragment_keeps_the_file_of_columns_dropped_meanwhile(tmp_path, theirs):
    """It goes when the version is made; what others took out of the fragment is out."""
    latest = versions.table(version=4, fragments=[manifests.fragment(0, versions.files(0))])
    made = rebase(_delete([2]), theirs, latest, _Gone(tmp_path, 7)).transaction
    fragment = made.delete.updated_fragments[0]

    assert [0, 1, 2] == list(fragment.files[0].fields)
    assert 1 + len(theirs) == fragment.deletion_file.num_deleted_rows


def test_rows_changed_in_a_fragment_of_other_files_are_looked_at_again(tmp_path):
    """Somebody dropped a column, then somebody deleted a row that is none of ours."""
    other = manifests.fragment(0, versions.files(0))
    theirs = [versions.transaction(delete={"updated_fragments": [other]})]
    with pytest.raises(CommitConflict, match="This Delete transaction was preempted") as caught:
        rebase(_delete([2]), theirs, versions.table(version=4), _Gone(tmp_path, 7))

    assert caught.value.retryable


def test_a_new_index_does_not_cover_columns_written_since(tmp_path):
    """Fragment 0 got another column b; an index on a column that is gone is refused."""
    columns = {"updated_fragments": [manifests.fragment(0)], "fields_modified": [1]}
    theirs = [versions.transaction(update={**columns, "update_mode": 1})]
    ours = Staged(
        versions.transaction(create_index={"new_indices": [versions.index("b", 1, [0, 1])]})
    )
    made = rebase(ours, theirs, versions.table(version=2), _Gone(tmp_path))

    kept = made.transaction.create_index.new_indices[0]
    assert versions.index("b", 1, [1]).fragment_bitmap == kept.fragment_bitmap
    gone = versions.table(version=2, fields=versions.FIELDS[:1])
    with pytest.raises(CommitConflict) as caught:
        rebase(ours, theirs, gone, _Gone(tmp_path))
    assert not caught.value.retryable


@pytest.mark.oracle
@pytest.mark.parametrize("between", [("drop",), ("delete", "drop"), ("drop", "delete")])
@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_oracle_keeps_the_same_files(tmp_path, change, between):
    """In the transaction and in the version that it makes."""
    import lance

    steps = {"drop": lambda one: one.drop_columns(["c"]), "delete": lambda one: one.delete("k = 1")}
    found = []
    for module, name in ((lance, "o"), (pylanceref, "l")):
        root = str(tmp_path / name)
        module.write_dataset(pa.table({"k": range(9), "f": range(9)}), root).add_columns({"c": "k"})
        old = module.dataset(root)
        for step in between:
            steps[step](module.dataset(root))
        if change == "update":
            old.update({"f": "7"}, where="k > 4")
        else:
            old.delete("k > 4")
        made = module.dataset(root)
        operation = made.get_transactions(1)[0].operation
        parts = [*operation.updated_fragments, *made.get_fragments()]
        kept = [one.files if hasattr(one, "files") else one.data_files() for one in parts]
        found.append([[file.fields for file in files] for files in kept])

    assert found[0] == found[1]
