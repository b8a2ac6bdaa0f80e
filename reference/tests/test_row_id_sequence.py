"""Row ids given by hand."""

import pickle

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylanceref.metadata import RowIdMeta
from pylanceref.row_id_sequence import RowIdSequence


@given(st.lists(st.integers(0, 2**64 - 2), unique=True))
def test_ids_survive_metadata(ids):
    """In their order, of any distance."""
    held = RowIdSequence(ids)
    assert ids == list(held) == held.to_pyarrow().to_pylist()
    assert len(ids) == len(held)
    assert held == RowIdSequence.from_inline_metadata(held.to_inline_metadata())
    assert held == pickle.loads(pickle.dumps(held))
    again = RowIdMeta.from_json(held.to_inline_metadata().json())
    assert held == RowIdSequence.from_inline_metadata(again)


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ([1, 1], ValueError),
        (pa.array([1, None]), ValueError),
        ([-1], OverflowError),
        (range(-2, 2), ValueError),
        (pa.array([-1]), ValueError),
        (pa.array([1.5]), TypeError),
        (5, TypeError),
        (["a"], TypeError),
    ],
)
def test_other_ids_are_refused(ids, error):
    """Twice, null, negative, no number."""
    with pytest.raises(error):
        RowIdSequence(ids)


def test_ids_of_a_column_are_not_in_metadata():
    """The file has them."""
    with pytest.raises(ValueError, match="column"):
        RowIdSequence.from_inline_metadata(RowIdMeta(None))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "ids", [range(3, 7), [5, 3, 9], range(12), range(0, 10, 2), range(5, 2, -1), []]
)
def test_the_oracle_writes_the_same(tmp_path, ids):
    """Byte for byte; what a table has is read."""
    import lance
    from lance.fragment import RowIdSequence as Theirs

    assert repr(Theirs(ids)) == repr(RowIdSequence(ids))
    ours = RowIdSequence(ids).to_inline_metadata().json()
    assert Theirs(ids).to_inline_metadata().json() == ours.replace(" ", "")
    lance.write_dataset(pa.table({"a": range(5)}), str(tmp_path), enable_stable_row_ids=True)
    (fragment,) = pylanceref.dataset(tmp_path).get_fragments()
    held = RowIdSequence.from_inline_metadata(fragment.metadata.row_id_meta)
    assert list(range(5)) == list(held)
