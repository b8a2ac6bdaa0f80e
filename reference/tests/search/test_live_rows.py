"""Live rows of a segment."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.errors import OutOfRange
from lanceref.search.row_locator import live_rows, remembered
from pylanceref.sql.columns import condition

from ..index.vector.indexed import points, write


def keys(*rows) -> np.ndarray:
    """Return addresses of rows, each as fragment and offset."""
    return np.array([fragment << 32 | offset for fragment, offset in rows], np.uint64)


@pytest.fixture
def dataset(tmp_path):
    """An index over two of three fragments, some rows deleted."""
    found = write(points(), tmp_path)
    built = found.create_index_uncommitted("v", "IVF_FLAT", fragment_ids=[0, 2], num_partitions=1)
    found.commit_existing_index_segments("v_idx", "v", [built])
    found.delete("i in (3, 501)")
    return found


def alive(dataset, given, where=None):
    """Return which of some keys count."""
    snapshot = dataset._snapshot
    (segment,) = snapshot.indices.segments
    own = [rows for rows in snapshot.fragments if rows.fragment.id in (0, 2)]
    asked = None if where is None else condition(snapshot, where)
    kept, left = live_rows(segment, own, asked, by_address=True)(given)
    assert given[kept].tolist() == left.tolist()
    return kept.tolist()


def test_deleted_rows_and_other_fragments_do_not_count(dataset):
    """Nor do rows of fragments that are gone."""
    given = keys((0, 0), (0, 3), (1, 5), (2, 1), (2, 2), (7, 0))
    assert [True, False, False, False, True, False] == alive(dataset, given)
    assert [False] * 4 + [True, False] == alive(dataset, given, "i > 100")


def test_a_row_that_was_never_there(dataset):
    """It is an error, and not left out silently."""
    with pytest.raises(OutOfRange, match=r"L\.index\.vector\.row-id"):
        alive(dataset, keys((2, 100)))


def test_stable_ids(tmp_path):
    """Rows are known by their ids, wherever they are."""
    dataset = write(points(), tmp_path, enable_stable_row_ids=True)
    dataset.create_index("v", "IVF_FLAT", num_partitions=1)
    dataset.delete("i = 3")
    snapshot = dataset._snapshot
    (segment,) = snapshot.indices.segments
    given = np.array([599, 3, 4, 10**9], np.uint64)
    kept, left = live_rows(segment, snapshot.fragments, None, by_address=False)(given)
    assert ([True, False, True, False], [599, 4]) == (kept.tolist(), left.tolist())
    nothing, _ = live_rows(segment, [], None, by_address=False)(given)
    assert not nothing.any()


def test_a_partition_is_asked_about_once():
    """Keys are known by the array that holds them: others that are equal are asked about."""
    asked = []

    def moved(given):
        asked.append(given)
        return given > 1, given[given > 1]

    once, given = remembered(moved), keys((0, 1), (0, 2))
    first, again = once(given), once(given)
    assert first is again
    assert [False, True] == once(given.copy())[0].tolist()
    assert 2 == len(asked)
