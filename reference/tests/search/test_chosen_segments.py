"""Chosen segments: only their rows are found; odd ids are refused."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.search.vector_search import segment_ids
from pylanceref.dataset import ScannerBuilder

VALUES = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
NEAR = {"column": "v", "q": VALUES[30], "k": 60}


def _rows(start, end):
    values = pa.FixedSizeListArray.from_arrays(pa.array(VALUES[start:end].ravel()), 4)
    return pa.table({"i": range(start, end), "v": values, "w": values})


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two segments of 20 rows, and 20 rows that none covers."""
    made = pylanceref.write_dataset(_rows(0, 20), tmp_path_factory.mktemp("segments") / "t")
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1)
    made.create_index("w", index_type="IVF_FLAT", num_partitions=1)
    made.insert(_rows(20, 40))
    made.optimize.optimize_indices(["v_idx"], num_indices_to_merge=0)
    made.insert(_rows(40, 60))
    return made


def _ids(dataset, name="v_idx") -> list[str]:
    (index,) = (one for one in dataset.describe_indices() if one.name == name)
    return [segment.uuid for segment in index.segments]


def _found(dataset, **scan) -> list[int]:
    return sorted(dataset.scanner(["i"], nearest=NEAR, **scan).to_table()["i"].to_pylist())


def test_only_rows_of_the_segments_are_found(dataset):
    """By text or id, twice the same too; those of no segment only in fragments that are named."""
    first, second = _ids(dataset)

    assert list(range(20)) == _found(dataset, index_segments=[first, uuid.UUID(first)])
    assert list(range(20, 40)) == _found(dataset, index_segments=(second,))
    assert list(range(40)) == _found(dataset, index_segments=[first, second])
    assert list(range(60)) == _found(dataset)
    last = dataset.get_fragments()[1:]
    chosen = _found(dataset, index_segments=[second], fragments=last, prefilter=True)
    assert list(range(20, 60)) == chosen
    built = ScannerBuilder(dataset).columns(["i"]).nearest("v", VALUES[0], 60)
    assert 20 == built.with_index_segments([first]).to_scanner().to_table().num_rows


def test_ids_say_nothing_without_the_index(dataset):
    """Every row is looked at."""
    near = {**NEAR, "use_index": False}
    scan = dataset.scanner(["i"], nearest=near, index_segments=_ids(dataset)[:1])

    assert 60 == scan.to_table().num_rows


def test_odd_ids_are_refused(dataset):
    """None, unknown ones, those of another index, and where nothing near is asked for."""
    cases = [
        ([], ValueError, "does not accept an empty segment list"),
        ([uuid.uuid4()], ValueError, "referenced unknown index segments"),
        (_ids(dataset, "w_idx"), ValueError, "does not belong to vector column 'v'"),
        (["x"], ValueError, "invalid index segment uuid 'x'"),
        ([5], TypeError, "Got <class 'int'> instead"),
        (_ids(dataset)[0], TypeError, "not a single <class 'str'>"),
    ]
    for given, kind, told in cases:
        with pytest.raises(kind, match=told):
            _found(dataset, index_segments=given)
    with pytest.raises(ValueError, match="only supported for vector search"):
        dataset.scanner(index_segments=_ids(dataset))


def test_an_id_is_one_however_written():
    """In any letters, with and without hyphens."""
    one = uuid.uuid4()

    assert frozenset([one]) == segment_ids([one, one.hex, f"{one}".upper()])


@pytest.mark.oracle
def test_the_oracle_finds_the_same_rows(dataset):
    """Of the same table, for each choice."""
    import lance

    other = lance.dataset(dataset.uri)
    first, second = _ids(dataset)
    for chosen in ([first], [second], [first, second]):
        assert _found(other, index_segments=chosen) == _found(dataset, index_segments=chosen)
