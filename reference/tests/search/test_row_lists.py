"""Row lists: only allowed rows are found, and no blocked ones, before anything is ranked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import QueryRefused
from lanceref.index.row_set import RowSet, encode_row_set
from lanceref.search.filter import restrict_to_lists
from pylanceref.dataset import ScannerBuilder, serialize_row_addrs

NEXT = 1 << 32
LIST = serialize_row_addrs([0, 3, 5, NEXT | 2])
NEAR = {"column": "v", "q": [0.0] * 4, "k": 4}


@pytest.fixture(scope="module", params=[False, True], ids=["no index", "indices"])
def dataset(request, tmp_path_factory):
    """Two fragments of ten rows."""
    vectors = np.repeat(np.arange(20, dtype=np.float32), 4)
    table = pa.table(
        {
            "id": range(20),
            "t": [f"w{one % 3} x" for one in range(20)],
            "v": pa.FixedSizeListArray.from_arrays(pa.array(vectors), 4),
        }
    )
    path = tmp_path_factory.mktemp("lists") / "t"
    made = pylanceref.write_dataset(table, path, max_rows_per_file=10)
    made.create_scalar_index("t", "INVERTED")
    if request.param:
        made.create_index("v", index_type="IVF_FLAT", num_partitions=1)
        made.create_scalar_index("id", "BTREE")
    return made


CASES = [
    ({"row_addr_allowlist": LIST}, [0, 3, 5, 12]),
    ({"row_addr_allowlist": LIST, "filter": "id > 2"}, [3, 5, 12]),
    ({"row_addr_blocklist": LIST, "filter": "id < 7"}, [1, 2, 4, 6]),
    ({"row_addr_allowlist": LIST, "nearest": NEAR}, [0, 3, 5, 12]),
    ({"row_addr_blocklist": LIST, "nearest": NEAR}, [1, 2, 4, 6]),
    ({"row_addr_allowlist": LIST, "nearest": NEAR, "filter": "id > 2"}, [3, 5, 12]),
    (
        {
            "row_addr_allowlist": LIST,
            "row_addr_blocklist": serialize_row_addrs([3]),
            "nearest": NEAR,
        },
        [0, 5, 12],
    ),
    ({"row_addr_allowlist": LIST, "full_text_query": "w0"}, [0, 3, 12]),
    ({"row_addr_allowlist": serialize_row_addrs([]), "nearest": NEAR}, []),
    ({"row_addr_allowlist": serialize_row_addrs([9 << 32])}, []),
    (
        {"row_addr_allowlist": encode_row_set(RowSet(whole=frozenset([1]))), "nearest": NEAR},
        [10, 11, 12, 13],
    ),
]


@pytest.mark.parametrize(("scan", "found"), CASES, ids=range(len(CASES)))
def test_only_listed_rows_are_found(dataset, scan, found):
    """By every kind of scan; a whole fragment may be listed."""
    assert found == sorted(dataset.scanner(["id"], **scan).to_table()["id"].to_pylist())


@pytest.mark.oracle
@pytest.mark.parametrize("scan", [scan for scan, _ in CASES], ids=range(len(CASES)))
def test_the_oracle_finds_the_same_rows(dataset, scan):
    """Of the same table, with the same bytes."""
    import lance

    found = [
        sorted(one.scanner(columns=["id"], **scan).to_table()["id"].to_pylist())
        for one in (lance.dataset(dataset.uri), dataset)
    ]
    assert found[0] == found[1]


@pytest.mark.oracle
@given(st.sets(st.integers(0, 2**36), max_size=20))
def test_lists_are_the_bytes_of_the_oracle(rows):
    """Of any rows."""
    from lance.dataset import serialize_row_addrs as theirs

    assert theirs(rows) == serialize_row_addrs(rows)


def test_a_builder_is_told_both(dataset):
    """None takes a list back."""
    builder = ScannerBuilder(dataset).row_addr_prefilter(LIST, serialize_row_addrs([0]))
    assert 3 == builder.to_scanner().count_rows()
    assert 20 == builder.row_addr_prefilter().to_scanner().count_rows()


@given(st.binary(max_size=30))
def test_bytes_that_are_no_list_are_refused(data):
    """Whatever they are, nothing else is raised."""
    try:
        restrict_to_lists(None, data, None)
    except QueryRefused as error:
        assert "is not a serialized RowAddrTreeMap" in str(error)


def test_what_is_no_row_is_refused(dataset):
    """Nor is text a list."""
    for wrong, kind in (([-1], OverflowError), ([2**64], OverflowError), (["x"], TypeError)):
        with pytest.raises(kind):
            serialize_row_addrs(wrong)
    with pytest.raises(TypeError, match="row_addr_blocklist"):
        dataset.scanner(row_addr_blocklist="abc")
