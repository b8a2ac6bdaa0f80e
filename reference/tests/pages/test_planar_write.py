"""Planar pages, written: the words of 2.3 for what the page layouts say."""

from lanceref.pages.planar import chunked_plane, dense_layout, sparse_layout, zipped_plane
from lanceref.proto.encodings_v2_1_pb2 import (
    ConstantLayout,
    FullZipLayout,
    MiniBlockLayout,
    PageLayout,
)
from lanceref.proto.encodings_v2_3_pb2 import SparseStructuralLayer

MINI = MiniBlockLayout(layers=[1, 4], num_buffers=1, num_items=3, repetition_index_depth=1)
MINI.value_compression.flat.bits_per_value = 32
MINI.def_compression.flat.bits_per_value = 16
ZIPPED = FullZipLayout(bits_rep=1, bits_def=2, bits_per_value=24, num_items=5, num_visible_items=4)
ZIPPED.value_compression.flat.bits_per_value = 24


def test_a_dense_chunked_page_keeps_its_levels():
    """Layers move to the structure, level codecs into the value plane."""
    layout = dense_layout(PageLayout(mini_block_layout=MINI))

    chunked = layout.values.chunked
    assert list(layout.structure.dense.layers) == [1, 4]
    assert (chunked.num_items, chunked.levels.repetition_index_depth) == (3, 1)
    assert chunked.levels.HasField("definition")
    assert not chunked.levels.HasField("repetition")


def test_a_dense_page_without_levels_still_says_so():
    """The message of the levels is there, and empty."""
    flat = MiniBlockLayout(layers=[1], num_buffers=1, num_items=3)

    assert dense_layout(PageLayout(mini_block_layout=flat)).values.chunked.HasField("levels")


def test_a_sparse_chunked_page_has_neither_levels_nor_items():
    """The structure alone says how many there are."""
    chunked = chunked_plane(MINI, dense=False).chunked

    assert (chunked.HasField("levels"), chunked.num_items) == (False, 0)


def test_a_zipped_page_keeps_widths():
    """Bits of levels only with a dense structure."""
    dense, sparse = (
        zipped_plane(ZIPPED, dense=True).zipped,
        zipped_plane(ZIPPED, dense=False).zipped,
    )

    assert (dense.levels.bits_repetition, dense.levels.bits_definition) == (1, 2)
    assert not sparse.HasField("levels")
    assert (sparse.bits_per_value, sparse.num_items, sparse.num_visible_items) == (24, 5, 4)
    assert zipped_plane(FullZipLayout(bits_per_offset=64), dense=False).zipped.bits_per_offset == 64


def test_a_constant_page_is_its_scalar():
    """A dense constant page has nothing but layers and value."""
    page = PageLayout(constant_layout=ConstantLayout(layers=[1], inline_value=b"\x07"))

    layout = dense_layout(page)

    assert (list(layout.structure.dense.layers), layout.values.constant.scalar) == ([1], b"\x07")


def test_sparse_layers_stand_from_the_outside_in():
    """As they were collected."""
    layers = [SparseStructuralLayer(), SparseStructuralLayer()]
    layers[0].list.num_child_slots = 3

    layout = sparse_layout(layers, chunked_plane(MINI, dense=False))

    assert layout.structure.sparse.layers[0].list.num_child_slots == 3
