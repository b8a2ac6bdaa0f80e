"""Odd spellings: the library reads back what was said."""

from hypothesis import given
from hypothesis import strategies as st
from lanceref.proto import encodings_v2_0_pb2, file2_pb2, file_pb2
from lanceref_testing.odd_wire import spell, varint
from lanceref_testing.oddities import Chance


def _messages():
    schema = file_pb2.Schema(metadata={"k": b"v", "": b""})
    schema.fields.add(name="a", id=0, parent_id=-1, logical_type="int32", metadata={"x": b"1"})
    schema.fields.add(name="b", id=1, logical_type="string", nullable=True)
    column = file2_pb2.ColumnMetadata(buffer_offsets=[1, 2**40], buffer_sizes=[0, 300])
    column.pages.add(length=7, priority=2**63, buffer_offsets=[64])
    column.encoding.direct.encoding = b"abc"
    array = encodings_v2_0_pb2.ArrayEncoding()
    array.nullable.some_nulls.validity.flat.bits_per_value = 1
    array.nullable.some_nulls.values.flat.bits_per_value = 32
    array.nullable.some_nulls.values.flat.buffer.buffer_index = 1
    return [file_pb2.FileDescriptor(schema=schema, length=9), column, array]


@given(st.integers(0, 2**32))
def test_a_spelling_says_the_same(seed):
    """Whatever the order, the length of numbers, what is cut or unknown."""
    chance = Chance(seed)
    for message in _messages():
        read = type(message).FromString(spell(chance, message))
        read.DiscardUnknownFields()

        assert message == read


def test_without_oddities_a_message_is_spelled_as_usual():
    """Fields in the order of their numbers, packed, nothing spare."""
    for message in _messages()[1:]:
        assert message.SerializeToString() == spell(Chance(0, ()), message)


def test_numbers_may_be_longer_than_they_need():
    """300 is ac 02; zeros above it make it longer, up to the most that is asked for."""
    chance = Chance(3, {"numbers longer than they need"})
    spelled = {varint(chance, 300, 4).hex() for _ in range(200)}

    assert spelled == {"ac02", "ac8200", "ac828000"}
