"""Row lineage of a commit."""

import numpy as np
import pytest
from lanceref.core.errors import OperationRefused
from lanceref.proto import table_pb2
from lanceref.table.row_ids import encode_ids, encode_row_ids
from lanceref.transactions.manifest_builder import Staged, begin
from lanceref.transactions.row_lineage import assign_row_ids, moved_ids

from tests.transactions import versions


def _making():
    return begin(versions.stable(), Staged(versions.transaction()), versions.NOWHERE)


def test_rows_without_an_id_get_the_next_ones():
    """20 ids are given out: 20 to 22 are next."""
    making, fragment = _making(), table_pb2.DataFragment(physical_rows=3)

    assert 0 == len(assign_row_ids(making, fragment))
    assert (encode_row_ids(20, 23), 23) == (fragment.inline_row_ids, making.message.next_row_id)


def test_rows_that_were_moved_keep_theirs():
    """All of them: nothing is given out. More ids than rows are refused."""
    making, held = _making(), encode_ids(np.array([4, 9], np.uint64))
    fragment = table_pb2.DataFragment(physical_rows=2, inline_row_ids=held)

    assert [4, 9] == assign_row_ids(making, fragment).tolist() == moved_ids(fragment).tolist()
    assert (held, 20) == (fragment.inline_row_ids, making.message.next_row_id)
    fragment.physical_rows = 1
    with pytest.raises(OperationRefused, match="more row IDs"):
        assign_row_ids(making, fragment)
