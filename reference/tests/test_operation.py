"""Operations as plain values."""

import pyarrow as pa
import pytest
from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import LanceOperation, Transaction

ONE = FragmentMetadata(0, [], 3)


@pytest.mark.parametrize(
    "make",
    [
        LanceOperation.Append,
        lambda given: LanceOperation.Delete(given, [], ""),
        lambda given: LanceOperation.Update(new_fragments=given),
        lambda given: LanceOperation.Merge(given, None),
    ],
)
def test_fragments_are_a_list_of_metadata(make):
    """Anything else is a TypeError at once."""
    assert isinstance(make([ONE]), LanceOperation.BaseOperation)
    for wrong in ((ONE,), [1], None):
        with pytest.raises(TypeError, match="fragments must be list"):
            make(wrong)


def test_a_rewrite_looks_into_its_groups():
    """Old and new fragments."""
    group = LanceOperation.RewriteGroup([ONE], [ONE])

    assert [group] == LanceOperation.Rewrite([group], []).groups
    with pytest.raises(TypeError):
        LanceOperation.Rewrite([LanceOperation.RewriteGroup([ONE], [1])], [])


def test_a_transaction_has_a_uuid_of_its_own():
    """Two are not the same."""
    append = LanceOperation.Append([ONE])

    assert Transaction(1, append).uuid != Transaction(1, append).uuid


def test_an_arrow_schema_of_a_merge_is_deprecated():
    """It still works."""
    with pytest.deprecated_call():
        LanceOperation.Merge([], pa.schema({"a": "int8"}))
