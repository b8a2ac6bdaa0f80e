"""Shredding."""

import pyarrow as pa
import pytest
from lanceref.core.errors import Place
from lanceref.core.file_versions import V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.column import assemble
from lanceref.pages.layers import leaf_paths, parse_layers
from lanceref.pages.repdef import Entries, Levels, unravel
from lanceref.pages.shred import concat, ravel, shred
from lanceref_testing import random_sample

NOWHERE = Place("f", 0)


def _field(type_):
    return schema_of(pa.schema([("c", type_)])).fields[0]


def test_a_list_of_structs_becomes_two_leaves():
    """Both have the offsets of the lists and the validity of the structs."""
    type_ = pa.list_(pa.struct([("a", pa.int8()), ("b", pa.string())]))
    array = pa.array([[{"a": 1, "b": "x"}, None], None, []], type_)

    first, second = shred(array, _field(type_))

    for leaf in (first, second):
        lists, structs = leaf.layers
        assert lists.offsets.tolist() == [0, 2, 2, 2]
        assert lists.validity.tolist() == [True, False, True]
        assert structs.validity.tolist() == [True, False]
        assert leaf.validity.tolist() == [True, False]
    assert (first.leaf.type, second.leaf.type) == (pa.int8(), pa.string())


def test_the_items_of_a_null_list_are_dropped():
    """A null list that owns two items leaves the items of its neighbours."""
    items = pa.array([1, 2, 3, 4, 5], pa.int8())
    buffers = [pa.py_buffer(bytes([0b101])), pa.array([0, 1, 3, 5], pa.int32()).buffers()[1]]
    array = pa.Array.from_buffers(pa.list_(pa.int8()), 3, buffers, children=[items])

    (leaf,) = shred(array, _field(array.type))

    assert leaf.leaf.to_pylist() == [1, 4, 5]
    assert leaf.layers[0].offsets.tolist() == [0, 1, 1, 3]


def test_a_list_under_a_null_struct_is_null():
    """What a null struct hides counts as null below it."""
    type_ = pa.struct([("l", pa.list_(pa.int8()))])
    lists = pa.array([[1, 2], [3]], pa.list_(pa.int8()))
    array = pa.StructArray.from_arrays([lists], fields=list(type_), mask=pa.array([True, False]))

    (leaf,) = shred(array, _field(type_))

    assert leaf.layers[1].validity.tolist() == [False, True]
    assert leaf.leaf.to_pylist() == [3]


def test_rows_are_cut_and_joined_without_loss():
    """The rows 0..2 and 2..4 of a list column, joined, are the column again."""
    type_ = pa.list_(pa.list_(pa.int8()))
    array = pa.array([[[1], []], None, [None, [2, 3]], []], type_)
    (leaf,) = shred(array, _field(type_))

    again = concat([leaf.slice(0, 2), leaf.slice(2, 4)])

    assert again.leaf.equals(leaf.leaf)
    for found, wanted in zip(again.layers, leaf.layers, strict=True):
        assert found.offsets.tolist() == wanted.offsets.tolist()
        assert found.validity is None or found.validity.tolist() == wanted.validity.tolist()


def _is_comparable(type_):
    """Whether Python has a value for every value of the type."""
    return not any(name in str(type_) for name in ("duration", "timestamp", "time", "date"))


@pytest.mark.parametrize("seed", range(40))
def test_shredded_and_ravelled_rows_come_back(seed):
    """Levels written of random nested columns are read as those columns."""
    table = random_sample(seed, V2_2).table.slice(0, 300).combine_chunks()
    for name in filter(lambda name: _is_comparable(table.field(name).type), table.column_names):
        array = table.column(name).chunk(0) if len(table) else pa.array([], table.field(name).type)
        field = _field(array.type)
        leaves = []
        for leaf, path in zip(shred(array, field), leaf_paths(field), strict=True):
            levels = ravel(leaf)
            read = Levels(levels.num_entries, levels.rep, levels.definition)
            layers = parse_layers(levels.codes, path, NOWHERE)
            leaves.append(unravel(layers, Entries(read, leaf.leaf), len(array), NOWHERE))

        back = assemble(field, leaves, NOWHERE)

        assert repr(back.to_pylist()) == repr(array.to_pylist())
