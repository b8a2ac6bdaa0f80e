"""Rebases."""

import numpy as np
import pytest
from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.errors import CommitConflict
from lanceref.storage import LocalStore
from lanceref.table.roaring import parse_bitmap
from lanceref.txn.making import Staged
from lanceref.txn.rebase import rebase

from tests.table import manifests
from tests.txn import versions


class _Gone:
    """A table whose fragments have the same rows deleted."""

    def __init__(self, *rows):
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
    made = rebase(LocalStore(tmp_path), _delete([2, 3]), THEIRS, latest, _Gone(7)).transaction
    entry = made.delete.updated_fragments[0].deletion_file
    data = (tmp_path / "_deletions" / f"0-4-{entry.id}.bin").read_bytes()

    assert (4, 1, 3) == (made.read_version, entry.file_type, entry.num_deleted_rows)
    assert [2, 3, 7] == parse_bitmap(Cursor(memoryview(data), 0, Context("d"))).tolist()


def test_a_row_that_is_gone_cannot_be_deleted_again(tmp_path):
    """The committer looks at its rows anew."""
    with pytest.raises(CommitConflict) as caught:
        rebase(LocalStore(tmp_path), _delete([2, 7]), THEIRS, versions.table(version=4), _Gone(7))

    assert caught.value.retryable


def test_a_fragment_whose_rows_are_all_out_goes(tmp_path):
    """Both deletions together leave none of its ten rows."""
    latest = versions.table(version=4)
    staged = _delete([0, 1, 2, 3, 4])
    made = rebase(LocalStore(tmp_path), staged, THEIRS, latest, _Gone(5, 6, 7, 8, 9)).transaction

    assert ([0], 0) == (list(made.delete.deleted_fragment_ids), len(made.delete.updated_fragments))


def test_only_the_deletion_is_carried_to_a_changed_fragment(tmp_path):
    """A projection dropped a file meanwhile: it does not come back."""
    latest = versions.table(version=4, fragments=[manifests.fragment(0, versions.files(0))])
    made = rebase(LocalStore(tmp_path), _delete([2]), [], latest, _Gone()).transaction
    fragment = made.delete.updated_fragments[0]

    assert ([0], 1) == (list(fragment.files[0].fields), fragment.deletion_file.id)


def test_a_new_index_does_not_cover_columns_written_since(tmp_path):
    """Fragment 0 got another column b; an index on a column that is gone is refused."""
    columns = {"updated_fragments": [manifests.fragment(0)], "fields_modified": [1]}
    theirs = [versions.transaction(update={**columns, "update_mode": 1})]
    ours = Staged(
        versions.transaction(create_index={"new_indices": [versions.index("b", 1, [0, 1])]})
    )
    made = rebase(LocalStore(tmp_path), ours, theirs, versions.table(version=2), _Gone())

    kept = made.transaction.create_index.new_indices[0]
    assert versions.index("b", 1, [1]).fragment_bitmap == kept.fragment_bitmap
    gone = versions.table(version=2, fields=versions.FIELDS[:1])
    with pytest.raises(CommitConflict) as caught:
        rebase(LocalStore(tmp_path), ours, theirs, gone, _Gone())
    assert not caught.value.retryable
