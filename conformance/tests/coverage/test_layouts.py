"""Layouts are counted from their messages, and widths from the leaves of a page."""

from lance_conformance.coverage.layouts import leaf_facts, message_facts
from lanceref.core.spans import Span
from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout, MiniBlockLayout, PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout


def test_a_mini_block_page_shows_layers_and_levels():
    """A list of nullable items, with both kinds of levels."""
    page = MiniBlockLayout(layers=[3, 5], repetition_index_depth=1)
    page.rep_compression.flat.bits_per_value = 16
    page.def_compression.flat.bits_per_value = 16
    page.value_compression.flat.bits_per_value = 32
    facts = set(message_facts(page, "2.1"))

    assert ("layer of mini-block pages", "REPDEF_EMPTYABLE_LIST") in facts
    assert ("levels of mini-block pages", "both") in facts
    assert ("lists around a leaf", "1") in facts
    assert ("repetition index depth", "1") in facts


def test_the_indices_of_a_dictionary_are_counted_by_width():
    """Their width is that of the page's values; without a dictionary there is none."""
    page = MiniBlockLayout(layers=[1])
    page.value_compression.flat.bits_per_value = 16
    plain = set(message_facts(page, "2.1"))
    page.dictionary.flat.bits_per_value = 64

    assert ("dictionary index bits", "16") in set(message_facts(page, "2.1"))
    assert not any(axis == "dictionary index bits" for axis, _ in plain)


def test_the_control_word_takes_1_2_or_4_bytes():
    """As many bytes as both levels need; none without levels."""
    taken = {}
    for bits in (0, 1, 8, 9, 16, 17, 32):
        page = FullZipLayout(bits_def=bits // 2, bits_rep=bits - bits // 2)
        facts = dict(message_facts(page, "2.1"))
        taken[bits] = facts["bytes of the control word"]

    assert {0: "0", 1: "1", 8: "1", 9: "2", 16: "2", 17: "4", 32: "4"} == taken


def test_both_planes_are_counted_together():
    """A sparse structure with constant values is not a dense one with them."""
    page = PlanarLayout()
    page.structure.sparse.SetInParent()
    page.values.constant.scalar = b"x"

    assert [("planes in 2.3", "sparse, constant")] == list(message_facts(page, "2.3"))


def test_a_page_layout_counts_by_version():
    """Each version has its own row."""
    page = PageLayout()
    page.blob_layout.SetInParent()

    assert [("layout in 2.2", "blob_layout")] == list(message_facts(page, "2.2"))


def test_leaves_show_logs_and_widths():
    """The log is the low half of the first byte; a width lies before its block."""
    word = Span(0, 2, "word of chunk 0", "chunk word", value=0x10A)
    width = Span(0, 8, "width", "u64", "L.codec.bitpack.width", 17)

    assert [("log of a chunk in 2.1", "10")] == list(leaf_facts(word, "2.1"))
    assert [("log of a chunk since 2.2", "10")] == list(leaf_facts(word, "2.3"))
    assert [("inline width of 64-bit words", "17")] == list(leaf_facts(width, "2.1"))
