"""Codecs are counted by their place, with their widths."""

from lance_conformance.coverage.codecs import AXES, codec_facts
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def _packed(bits: int, width: int) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.out_of_line_bitpacking.uncompressed_bits_per_value = bits
    encoding.out_of_line_bitpacking.values.flat.bits_per_value = width
    return encoding


def test_an_arm_counts_in_its_place():
    """The place is one of the version when the version matters, and else the place alone."""
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = 16

    assert ("codec of levels in 2.2", "flat") in set(codec_facts(encoding, "levels", "2.2"))
    assert ("codec of list items", "flat") in set(codec_facts(encoding, "list items", "2.2"))


def test_packed_values_count_by_word_and_width():
    """64-bit words with 5 bits each."""
    facts = set(codec_facts(_packed(64, 5), "dictionary", "2.1"))

    assert ("out-of-line width of 64-bit words", "5") in facts


def test_what_is_wrapped_counts_too():
    """A compressed flat buffer has a scheme, a level and a codec inside."""
    encoding = CompressiveEncoding()
    encoding.general.compression.scheme = 2
    encoding.general.compression.level = 3
    encoding.general.values.flat.bits_per_value = 32
    facts = set(codec_facts(encoding, "chunk values", "2.1"))

    assert ("general compression", "zstd at a level") in facts
    assert ("codec of compressed chunk values", "flat") in facts


def test_runs_of_2_3_have_codecs_of_their_own():
    """Before 2.3 they are flat, which says nothing."""
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(_packed(32, 3))
    encoding.rle.run_lengths.flat.bits_per_value = 8
    new, old = (set(codec_facts(encoding, "levels", version)) for version in ("2.3", "2.2"))

    assert ("codec of run values in 2.3", "out_of_line_bitpacking") in new
    assert ("run length bits", "8") in old
    assert not any(axis.startswith("codec of run") for axis, _ in old)


def test_every_width_is_to_occur():
    """0 up to the bits of the word."""
    for bits in (8, 16, 32, 64):
        assert bits + 1 == len(AXES[f"inline width of {bits}-bit words"])
        assert bits + 1 == len(AXES[f"out-of-line width of {bits}-bit words"])
