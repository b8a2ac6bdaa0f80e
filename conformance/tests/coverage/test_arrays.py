"""Messages of 2.0 and fields of 0.1 show widths, keys and encodings."""

from lance_conformance.coverage.arrays import legacy_facts, message_facts
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto import file_pb2


def test_packed_values_count_by_type_and_width():
    """Both forms of packing have their own axis."""
    straight = pb.Bitpacked(compressed_bits_per_value=5, uncompressed_bits_per_value=16)
    lanes = pb.BitpackedForNonNeg(compressed_bits_per_value=6, uncompressed_bits_per_value=32)

    assert [("bitpacked width of 16-bit values in 2.0", "5")] == list(message_facts(straight))
    assert [("FastLanes width of 32-bit values in 2.0", "6")] == list(message_facts(lanes))


def test_keys_of_a_dictionary_count_through_their_validity():
    """Keys inside a nullable without nulls are as wide as their flat values."""
    dictionary = pb.Dictionary()
    dictionary.indices.nullable.no_nulls.values.flat.bits_per_value = 32

    assert [("dictionary key bits in 2.0", "32")] == list(message_facts(dictionary))


def test_a_field_of_0_1_shows_its_encoding():
    """Types of a kind share a row."""
    field = file_pb2.Field(name="a", logical_type="timestamp:us:-", encoding="PLAIN")

    assert [("encoding in 0.1", "temporal, PLAIN")] == list(legacy_facts(field))


def test_statistics_show_the_type_of_their_bounds():
    """The least value has the type of the column."""
    statistics = file_pb2.Metadata.StatisticsMetadata()
    statistics.schema.add(name="0", logical_type="struct")
    statistics.schema.add(name="min_value", logical_type="decimal:128:5:2")

    assert [("statistics in 0.1", "decimal")] == list(legacy_facts(statistics))
