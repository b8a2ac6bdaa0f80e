"""Conflicts between two transactions."""

import pytest
from lanceref.errors import CommitConflict
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.txn.conflict import check_conflict, operation_of

OPERATIONS = [field.name for field in Transaction.DESCRIPTOR.oneofs_by_name["operation"].fields]
REFUSED = {
    ("append", "overwrite"): False,
    ("append", "restore"): False,
    ("append", "merge"): True,
    ("append", "project"): True,
    ("overwrite", "overwrite"): True,
}
"""Whether the conflict is retryable, for (ours, theirs) that cannot both stand."""


def _of(operation: str) -> Transaction:
    return Transaction(**{operation: {}})


@pytest.mark.parametrize("ours", ["append", "overwrite"])
@pytest.mark.parametrize("theirs", OPERATIONS)
def test_every_pair_is_judged(ours, theirs):
    """The table of the chapter: L.txn.conflict.append, L.txn.conflict.overwrite."""
    if (ours, theirs) not in REFUSED:
        check_conflict(_of(ours), _of(theirs), 2)
        return

    with pytest.raises(CommitConflict) as caught:
        check_conflict(_of(ours), _of(theirs), 2)

    assert REFUSED[ours, theirs] == caught.value.retryable
    assert 2 == caught.value.version


@pytest.mark.parametrize("theirs", [None, Transaction(read_version=1)])
def test_what_nobody_can_tell_is_a_conflict(theirs):
    """L.txn.conflict.unknown: no transaction, or an operation we do not know."""
    assert "" == operation_of(theirs)
    with pytest.raises(CommitConflict) as caught:
        check_conflict(_of("append"), theirs, 5)

    assert not caught.value.retryable
