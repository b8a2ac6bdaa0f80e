"""Sampling: what is drawn, and the shares of ranks, by hand and as with pylance."""

import pyarrow as pa
import pytest
from pylanceref import sampler
from pylanceref._dataset.sharded_batch_iterator import ShardedBatchIterator
from pylanceref.sampler import ShardedBatchSampler, maybe_sample
from tests.index.tables import write


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Four fragments of 25 rows."""
    path = tmp_path_factory.mktemp("sampler")
    return write(pa.table({"i": range(100)}), path, max_rows_per_file=25)


def _rows(batches) -> list[int]:
    return [value for batch in batches for value in batch["i"].to_pylist()]


@pytest.mark.parametrize(
    ("n", "arguments"), [(40, {}), (40, {"max_takes": 7}), (99, {"max_takes": 98})]
)
def test_drawn_rows_are_of_the_table_and_no_two_the_same(dataset, n, arguments):
    """Alone or in runs; in batches of the size asked for. All of them are the table."""
    batches = list(maybe_sample(dataset, n, "i", batch_size=16, **arguments))
    drawn = _rows(batches)

    assert [16] * (n // 16) == [one.num_rows for one in batches][: n // 16]
    assert n == len(drawn) == len(set(drawn))
    assert set(drawn) <= set(range(100))
    assert list(range(100)) == _rows(maybe_sample(dataset, 200, ["i"]))


@pytest.mark.parametrize("randomize", [False, True])
def test_ranks_share_rows_that_pass(dataset, randomize):
    """Every third one, in batches of the size asked for, in an order of the epoch."""
    one = ShardedBatchSampler(1, 3, randomize, seed=3)
    batches = list(one(dataset, batch_size=8, filter="i >= 10", columns=["i"]))

    assert list(range(11, 100, 3)) == sorted(_rows(batches))
    assert [6, 8, 8, 8] == sorted(batch.num_rows for batch in batches)
    assert randomize == (_rows(batches) != sorted(_rows(batches)))
    assert [] == list(one(dataset, filter="i > 100"))


@pytest.mark.oracle
@pytest.mark.parametrize("randomize", [False, True])
def test_the_order_is_that_of_pylance(dataset, randomize):
    """With the same seed, for fragments, batches and row numbers."""
    import lance
    import lance.sampler as theirs

    other = lance.dataset(dataset.uri)
    for name in ("ShardedFragmentSampler", "ShardedBatchSampler"):
        rows = [
            _rows(getattr(module, name)(1, 2, randomize, 9)(table, batch_size=9, columns=["i"]))
            for module, table in ((sampler, dataset), (theirs, other))
        ]
        assert rows[0] == rows[1]
    numbers = [
        list(one.ShardedFixedBatchSampler(1, 2, randomize, 4, 3, 30)) for one in (sampler, theirs)
    ]
    assert numbers[0] == numbers[1]


def test_the_rows_of_a_rank(tmp_path):
    """The deprecated iterator shares by fragments or batches; a path is opened."""
    table = write(pa.table({"i": range(20)}), tmp_path, max_rows_per_file=5)

    def ranked(given, **named):
        with pytest.warns(UserWarning, match="deprecated"):
            return _rows(ShardedBatchIterator(given, 1, 2, **named))

    assert [*range(5, 10), *range(15, 20)] == ranked(table.uri)
    assert [4, 5, 6, 7, 12, 13, 14, 15] == ranked(table, granularity="batch", batch_size=4)
    assert [18, 19] == ranked(table, granularity="batch", batch_size=18)
    with pytest.raises(NotImplementedError, match="with_row_id"):
        ranked(table, granularity="batch", with_row_id=True)
    with pytest.raises(ValueError, match="Unrecognized granularity: row"):
        ranked(table, granularity="row")
