"""Pages, encoded: which layout is taken, and that both readers understand it."""

import pyarrow as pa
import pytest
from lanceref.codecs.encoder_inputs import Params
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V2_1, V2_2, V2_3
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.encode import LeafPolicy, encode_rows, page_parts
from lanceref.pages.layers import NULL_AND_EMPTY, NULLABLE_ITEM, leaf_paths
from lanceref.pages.shred import ravel, shred
from lanceref.pages.writer import dimensions_of

LIST = pa.list_(pa.int64())
FAR = [2**62 + 7 * i for i in range(5)]


def _page(rows, type_, version, structural=None):
    field = schema_of(pa.schema([("c", type_)])).fields[0]
    (leaf, *_) = shred(pa.array(rows, type_), field)
    path = leaf_paths(field)[0]
    policy = LeafPolicy(version, Params(), structural, dimensions_of(path))
    buffers, layout = encode_rows(leaf, ravel(leaf), policy)
    return len(buffers), layout


@pytest.mark.parametrize(
    ("rows", "type_", "version", "buffers", "layout"),
    [
        ([None, None], pa.int64(), V2_1, 0, "constant_layout"),
        ([[None], [], None], LIST, V2_1, 2, "constant_layout"),
        ([7, 7], pa.int64(), V2_1, 2, "mini_block_layout"),
        ([7, None], pa.int64(), V2_2, 2, "constant_layout"),
        (["a" * 40] * 2, pa.string(), V2_2, 1, "constant_layout"),
        (FAR, pa.int64(), V2_2, 2, "mini_block_layout"),
        ([[1, 2], None], LIST, V2_2, 3, "mini_block_layout"),
        (["a" * 255, "b"], pa.string(), V2_2, 2, "mini_block_layout"),
        (["a" * 256, "b"], pa.string(), V2_2, 2, "full_zip_layout"),
        ([["a" * 256], ["b"]], pa.list_(pa.string()), V2_2, 2, "full_zip_layout"),
        ([[1.0] * 64, [2.0] * 64], pa.list_(pa.float32(), 64), V2_2, 1, "full_zip_layout"),
        ([[None, None]], pa.list_(pa.int8(), 2), V2_2, 1, "full_zip_layout"),
        ([{}, {}], pa.struct([]), V2_2, 0, "constant_layout"),
    ],
)
def test_rows_take_a_layout_by_what_they_hold(rows, type_, version, buffers, layout):
    """Nulls, one value, narrow and wide values; in 2.1 only nulls are constant."""
    found, message = _page(rows, type_, version)

    assert (found, message.WhichOneof("layout")) == (buffers, layout)


@pytest.mark.parametrize(
    ("rows", "type_", "structural", "structure", "values"),
    [
        ([7, 7], pa.int64(), None, "dense", "constant"),
        ([7, None], pa.int64(), None, "sparse", "constant"),
        ([None, None], pa.int64(), None, "sparse", "none"),
        (FAR, pa.int64(), "sparse", "dense", "chunked"),
        ([*FAR, None], pa.int64(), None, "dense", "chunked"),
        ([*FAR, None], pa.int64(), "sparse", "sparse", "chunked"),
        (["a" * 300, None], pa.string(), "sparse", "sparse", "zipped"),
        (["a" * 300, None], pa.string(), None, "dense", "zipped"),
        (["abc", "abc"], pa.string(), None, "dense", "chunked"),
        ([{}, None], pa.struct([]), None, "sparse", "none"),
    ],
)
def test_a_page_of_2_3_is_sparse_when_it_must_be_or_may_be(
    rows, type_, structural, structure, values
):
    """Constants with levels must be; other nullable columns are when it is asked for."""
    _, message = _page(rows, type_, V2_3, structural)

    assert message.structure.WhichOneof("codec") == structure
    assert message.values.WhichOneof("codec") == values


def test_fixed_size_lists_of_structs_with_lists_are_sparse():
    """No dense page of that kind can be read."""
    type_ = pa.list_(pa.list_(pa.struct([("a", pa.int64())]), 2))
    rows = [[[{"a": 1}, {"a": 2}]], None]

    _, message = _page(rows, type_, V2_3)

    assert message.structure.WhichOneof("codec") == "sparse"


@pytest.mark.parametrize("version", [V2_1, V2_2])
def test_a_layout_that_does_not_exist_is_refused(version):
    """`sparse` is none before 2.3."""
    with pytest.raises(DataRefused, match="sparse"):
        _page(FAR, pa.int64(), version, "sparse")


def test_null_empty_structs_have_no_page_before_2_3():
    """The levels would have nothing to stand beside."""
    with pytest.raises(DataRefused, match="empty structs"):
        _page([{}, None], pa.struct([]), V2_2)


def _parts(rows):
    field = schema_of(pa.schema([("c", LIST)])).fields[0]
    (leaf,) = shred(pa.array(rows, LIST), field)
    return [
        (start, part.num_rows, levels)
        for start, part, levels in page_parts(leaf, LeafPolicy(V2_2, Params(), None, (None,)))
    ]


def test_a_page_is_cut_only_for_its_levels():
    """Lists without items alone are one page, whatever their number; null items are none."""
    assert [(0, 70_000)] == [part[:2] for part in _parts([None] * 70_000)]
    assert [(0, 65_535), (65_535, 4_466)] == [part[:2] for part in _parts([None] * 70_000 + [[1]])]
    assert [(0, 43_690), (43_690, 36_310)] == [part[:2] for part in _parts([[None], []] * 40_000)]


def test_pages_that_are_cut_have_the_layers_of_all_rows():
    """Empty lists lie in the first page, null ones and null items in the second alone."""
    parts = _parts([[1], []] * 35_000 + [None, [None]])

    assert [(0, 43_690), (43_690, 26_312)] == [part[:2] for part in parts]
    assert {(NULLABLE_ITEM, NULL_AND_EMPTY)} == {levels.codes for *_, levels in parts}
    assert [43_690, 26_312] == [len(levels.rep) for *_, levels in parts]
    assert [0, 3] == sorted(set(parts[0][2].definition.tolist()))
