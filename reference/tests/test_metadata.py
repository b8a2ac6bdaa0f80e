"""Fragment metadata as plain values."""

import json

import pytest
from lanceref.core.errors import FormatError
from lanceref.proto import table_pb2
from pylanceref.metadata import DataFile, DeletionFile, FragmentMetadata

from tests.table import manifests

PLAIN = table_pb2.DataFragment(**manifests.fragment(3))
FULL = table_pb2.DataFragment(
    **manifests.fragment(
        4,
        manifests.data_file(file_size_bytes=9, base_id=2),
        deletion_file={"file_type": 1, "read_version": 2, "id": 2**63, "num_deleted_rows": 4},
        inline_row_ids=b"\1",
        inline_created_at_versions=b"\2",
        inline_last_updated_at_versions=b"",
    )
)
SPILLED = table_pb2.DataFragment(
    **manifests.fragment(5, column_row_ids={}, column_created_at_versions={})
)


@pytest.mark.parametrize("message", [PLAIN, FULL, SPILLED])
def test_a_fragment_comes_back_as_a_message_and_from_json(message):
    """Nothing is lost on either way."""
    made = FragmentMetadata.from_message(message)

    assert message == made.to_message()
    assert made == FragmentMetadata.from_json(json.dumps(made.to_json()))


def test_rows_are_counted_without_the_deleted_ones():
    """Ten rows, four deleted."""
    made = FragmentMetadata.from_message(FULL)

    assert (10, 4, 6) == (made.physical_rows, made.num_deletions, made.num_rows)


def test_a_deletion_file_knows_its_path():
    """Below the root, or as a URI."""
    file = DeletionFile(2, 7, "array", 4)

    assert "_deletions/3-2-7.arrow" == file.path(3)
    assert "s3://b/t/_deletions/3-2-7.arrow" == file.path(3, "s3://b/t")
    with pytest.raises(ValueError, match="Invalid file type"):
        DeletionFile(2, 7, "roaring", 4).path(3)


def test_a_deletion_file_of_an_unknown_type_is_refused():
    """By its clause."""
    with pytest.raises(FormatError, match=r"L\.table\.deletions\.type"):
        DeletionFile.from_message(table_pb2.DeletionFile(file_type=3))


def test_a_data_file_needs_a_path_and_fields_only():
    """The version and the columns of a 0.1 file may be left out."""
    assert table_pb2.DataFile(path="f", fields=[1]) == DataFile("f", [1]).to_message()


@pytest.mark.oracle
def test_the_json_is_that_of_the_oracle(tmp_path):
    """Deletion file, row ids, versions."""
    import lance
    import pyarrow as pa
    import pylanceref

    table = pa.table({"a": range(40)})
    made = lance.write_dataset(table, tmp_path, max_rows_per_file=20, enable_stable_row_ids=True)
    made.delete("a = 3")

    theirs = [one.metadata.to_json() for one in made.get_fragments()]
    ours = [one.metadata.to_json() for one in pylanceref.dataset(tmp_path).get_fragments()]
    assert theirs == ours
    assert theirs == [FragmentMetadata.from_json(json.dumps(one)).to_json() for one in theirs]
