"""Entries of chunks: levels and values brought together."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded
from lanceref.pages.chunk_rows import ChunkDecoder, Items
from lanceref.pages.chunks import MiniBlock, parse_table
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM

from .building import LISTS, chunk, chunk_table, field_of, flat, path_to, pb, words
from .nesting import layers_of

LIST_LAYERS = layers_of(path_to(field_of(LISTS)), [ALL_VALID_ITEM, NULL_AND_EMPTY])
ITEM_LAYERS = layers_of(path_to(field_of(pa.int32())), [NULLABLE_ITEM])
REP, DEFINITION = [1, 0, 1, 1, 1], [0, 0, 1, 2, 0]
"""The worked levels of [[1, 2], null, [], [3]]."""


U16, U32 = flat(16), flat(32)


def _decode(chunks, counts, *, layers=LIST_LAYERS, rep=U16, values=U32, **more):
    """Decode chunks that lie back to back; `counts` are the logs of all but the last."""
    num_items = more.pop("num_items")
    words_ = chunk_table(*zip(chunks, counts, strict=True))
    table = parse_table(_cursor(words_), False, num_items, Extent(0, sum(map(len, chunks))))
    mini = MiniBlock(layers, rep, flat(16), values, None, 0, 1, num_items, False, 0)
    decoder = ChunkDecoder(mini, more.pop("type", pa.int32()), more.pop("max_bytes", 2**20))
    items = more.pop("dictionary", None)
    dictionary = None if items is None else Items(items, len(items))
    return decoder.decode(
        _cursor(b"".join(chunks)), table.choose(np.arange(len(chunks))), dictionary
    )


def _cursor(data):
    return Cursor(memoryview(data), 0, Context("test"))


def test_worked_chunk():
    """Five entries, three of them with a value."""
    decoded = _decode([chunk(words(1, 2, 3), levels=(REP, DEFINITION))], [0], num_items=3)

    assert [1, 2, 3] == decoded.leaf(slice(None)).to_pylist()
    assert (REP, DEFINITION) == (
        decoded.levels.rep.tolist(),
        decoded.levels.definition.tolist(),
    )
    assert [0, 2, 3, 4] == decoded.levels.starts.tolist()
    assert [0] == decoded.first_entry.tolist()


def test_chunks_are_joined():
    """Two values in the first chunk, one in the second, whose first entry is number 2."""
    chunks = [
        chunk(words(1, 2), levels=(REP[:2], DEFINITION[:2])),
        chunk(words(3), levels=(REP[2:], DEFINITION[2:])),
    ]
    decoded = _decode(chunks, [1, 0], num_items=3)

    assert [1, 2, 3] == decoded.leaf(slice(None)).to_pylist()
    assert REP == decoded.levels.rep.tolist()
    assert [0, 2] == decoded.first_entry.tolist()


@pytest.mark.parametrize(
    ("rep", "definition", "clause"),
    [
        ([2, 0, 1, 1, 1], DEFINITION, "L.page.levels.rep-range"),
        (REP, [0, 0, 1, 3, 0], "L.page.levels.def-range"),
        (REP, [0, 0, 1, 0, 0], "L.page.miniblock.visible"),
        (REP, [0, 1, 1, 2, 0], "L.page.miniblock.visible"),
    ],
)
def test_levels_are_held_against_layers_and_values(rep, definition, clause):
    """Levels nobody defines, and entries that own more or fewer values than there are."""
    with pytest.raises(CorruptPage) as caught:
        _decode([chunk(words(1, 2, 3), levels=(rep, definition))], [0], num_items=3)

    assert clause == caught.value.clause


def test_indices_are_looked_up():
    """A null slot owns an index too."""
    stored = [chunk(words(1, 0, 1), levels=([0, 1, 0],))]
    items = {"layers": ITEM_LAYERS, "rep": None, "type": pa.string(), "num_items": 3}
    decoded = _decode(stored, [0], dictionary=pa.array(["p", "q"]), **items)

    assert ["q", None, "q"] == decoded.leaf(slice(None)).to_pylist()
    with pytest.raises(CorruptPage) as caught:
        _decode(stored, [0], dictionary=pa.array(["p"]), **items).leaf(slice(None))
    assert "L.page.dictionary.index-range" == caught.value.clause


def test_indices_are_integers():
    """A list of one integer is none."""
    values = pb.CompressiveEncoding(fixed_size_list={"items_per_value": 1, "values": flat(32)})
    with pytest.raises(CorruptPage) as caught:
        _ = _decode(
            [chunk(words(0), levels=([0],))],
            [0],
            layers=ITEM_LAYERS,
            rep=None,
            values=values,
            dictionary=pa.array(["p"]),
            num_items=1,
        ).leaf(slice(None))

    assert "L.page.dictionary.index-width" == caught.value.clause


def test_levels_are_bounded():
    """Five levels take 80 bytes while rows are cut from them."""
    stored = [chunk(words(1, 2, 3), levels=(REP, DEFINITION))]
    with pytest.raises(LimitExceeded) as caught:
        _decode(stored, [0], num_items=3, max_bytes=79)

    assert "L.page.limits.levels" == caught.value.clause
    _decode(stored, [0], num_items=3, max_bytes=80)


@given(st.integers(0, 55), st.integers(1, 255))
def test_damaged_chunks_are_refused_or_entries(at, mask):
    """Any changed byte of the worked chunk."""
    data = bytearray(chunk(words(1, 2, 3), levels=(REP, DEFINITION)))
    data[at] ^= mask
    try:
        decoded = _decode([bytes(data)], [0], num_items=3)
        assert 3 == len(decoded.leaf(slice(None)))
    except BytesError as error:
        assert error.clause.startswith("L.")
