"""Written bytes of tables: manifests, sequences, deletions, refs and transactions by hand."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import UnknownFlag
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.storage import BytesSource
from lanceref.table import flags
from lanceref.table.deletions import encode_arrow, encode_bitmap, read_deletions
from lanceref.table.lineage import (
    decode_row_ids,
    decode_versions,
    encode_ids,
    encode_runs,
    encode_segment,
)
from lanceref.table.manifest import encode_manifest

from tests.table import manifests
from tests.table.manifests import minimal, parse

TRANSACTION = transaction_pb2.Transaction(read_version=1, uuid="u", append={})


def test_the_worked_manifest_is_written_back_byte_for_byte():
    """The transaction section is at 0, the manifest after it, the footer has its position."""
    parsed = manifests.parse(manifests.WORKED)
    message = table_pb2.Manifest()
    message.CopyFrom(parsed.message)
    message.transaction_section = 99

    assert manifests.WORKED == encode_manifest(message, parsed.transaction, (), {})


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_dictionaries_come_back(values):
    """Values of a 0.1 dictionary are at the head, and their field has the position."""
    fields = [{"name": "d", "id": 3, "parent_id": -1, "logical_type": "dict:string:int32:false"}]
    message = manifests.minimal(
        fields=fields, data_format={"file_format": "lance", "version": "0.1"}
    )

    parsed = manifests.parse(encode_manifest(message, TRANSACTION, (), {3: pa.array(values)}))

    assert {3: values} == {key: array.to_pylist() for key, array in parsed.dictionaries.items()}


def test_a_writer_bit_we_do_not_know_is_refused():
    """L.table.flags.writer-refuses: such a version opens, and no commit follows it."""
    parsed = parse(minimal(writer_feature_flags=1 << 20))

    with pytest.raises(UnknownFlag, match=r"L\.table\.flags\.writer-refuses"):
        flags.check_writable(parsed.message, parsed.place)


def test_a_bitmap_has_no_runs():
    """1 and 3 in golden bytes; nine thousand rows in a row are one bitset container."""
    golden = "3a30000001000000000001001000000001000300"

    assert bytes.fromhex(golden) == encode_bitmap(np.array([1, 3]))
    assert 8208 == len(encode_bitmap(np.arange(9000)))


@given(st.lists(st.integers(0, 2**32 - 2), unique=True, max_size=30).map(sorted))
def test_any_deleted_rows_come_back(rows):
    """Any rows are read back from both forms."""
    for data, name in (
        (encode_arrow(np.array(rows)), "d.arrow"),
        (encode_bitmap(np.array(rows)), "d.bin"),
    ):
        assert rows == read_deletions(BytesSource(data, name), Context("d")).tolist()


CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)


def _back(data: bytes) -> list[int]:
    ids = decode_row_ids(data, None, CTX, PLACE)
    return ids.at(np.arange(ids.count)).tolist()


@pytest.mark.parametrize(
    ("ids", "held"),
    [
        (range(100), "0a040a021064"),
        (range(100, 200), "0a070a05086410c801"),
        ([9, 10, 11, 200], "0a10220e0a0c08091208000001000200bf00"),
    ],
)
def test_the_smallest_segment_is_written(ids, held):
    """Golden bytes of ranges, and of ids too far apart for holes or a bitmap."""
    assert bytes.fromhex(held) == encode_ids(np.array(ids, np.uint64))


@pytest.mark.parametrize(
    ("ids", "arm"),
    [
        ([], "range"),
        ([7], "range"),
        ([1, 2, 4, 5, 6], "range_with_bitmap"),
        ([*range(50), *range(51, 200)], "range_with_holes"),
        ([0, 1000], "sorted_array"),
        ([2, 1], "array"),
        ([3, 3], "array"),
    ],
)
def test_the_form_follows_the_sizes(ids, arm):
    """The smallest form wins: 24 bytes and 4 a hole, an eighth a slot, or 2 a value."""
    assert arm == encode_segment(np.array(ids, np.uint64)).WhichOneof("segment")


@given(st.lists(st.integers(0, 2**64 - 2), max_size=40))
def test_any_ids_come_back(ids):
    """Any ids are read back in their order."""
    assert ids == _back(encode_ids(np.array(ids, np.uint64)))


@given(st.lists(st.integers(1, 5), max_size=60))
def test_any_versions_come_back(versions):
    """Any row versions are read back; equal neighbours are one run."""
    data = encode_runs(np.array(versions, np.uint64))
    decoded = decode_versions(data, len(versions), CTX, PLACE)

    assert versions == decoded.at(np.arange(len(versions))).tolist()
