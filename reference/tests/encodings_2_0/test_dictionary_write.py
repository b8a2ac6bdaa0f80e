"""Arrow dictionaries, encoded for 2.0."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from lanceref.encodings_2_0.binary import STRINGS
from lanceref.encodings_2_0.dictionary import encode_dictionary
from lanceref.encodings_2_0.nullable import PageBuffers


def _coded(keys, items):
    return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(items))


def _encoded(*arrays):
    page = PageBuffers()
    return encode_dictionary(arrays, page).dictionary, [bytes(one) for one in page.buffers]


def test_keys_count_from_zero_in_their_own_width():
    """No shift: key 1 is item 1."""
    found, buffers = _encoded(_coded([1, 0, 1], ["a", "b"]))

    assert buffers[0] == bytes([1, 0, 1])
    assert found.num_dictionary_items == 2
    assert found.indices.nullable.no_nulls.values.flat.bits_per_value == 8


def test_null_rows_point_at_a_null_item():
    """One is added after the others, or the first there is."""
    added, buffers = _encoded(_coded([0, None], ["a"]))
    assert (added.num_dictionary_items, buffers[0]) == (2, bytes([0, 1]))

    present, buffers = _encoded(_coded([0, None, 2], [None, "a", "b"]))
    assert (present.num_dictionary_items, buffers[0]) == (3, bytes([0, 0, 2]))


def test_nothing_but_nulls_keeps_no_item_but_the_null():
    """One item, all keys 0."""
    found, buffers = _encoded(_coded([None, None], ["a", "b"]))

    assert (found.num_dictionary_items, buffers[0]) == (1, bytes([0, 0]))


def test_dictionaries_stand_one_after_the_other():
    """The keys of the second array are moved after the items of the first."""
    found, buffers = _encoded(_coded([0, 1, 0], ["a", "b"]), _coded([0], ["a"]))

    assert (found.num_dictionary_items, buffers[0]) == (3, bytes([0, 1, 0, 2]))


def test_dictionaries_as_large_as_their_rows_are_merged():
    """Three items for three rows: of the used ones, each is kept once."""
    found, buffers = _encoded(_coded([1, 1], ["a", "b"]), _coded([0], ["b"]))

    assert (found.num_dictionary_items, buffers[0]) == (1, bytes([0, 0, 0]))


def test_dictionaries_of_more_items_than_keys_can_tell_are_merged():
    """Thirty times five items, of which rows use three: int8 keys tell them."""
    array = _coded([4, 0, None, 2] * 50, ["a", "b", "c", "d", "e"])
    found, buffers = _encoded(*[array] * 30)

    assert found.num_dictionary_items == 4
    assert buffers[0] == bytes([2, 0, 3, 1] * 50 * 30)


@pytest.mark.oracle
@pytest.mark.parametrize(("items", "arrays"), [(6, 22), (4, 32), (4, 31)])
def test_merged_dictionaries_are_the_bytes_of_the_oracle(tmp_path, items, arrays):
    """Above, at and below what int8 keys can tell; no value comes twice (it may keep both)."""
    from lance.file import LanceFileWriter as Theirs
    from pylanceref.file import LanceFileWriter as Ours

    columns = [_coded([0, 1, 2] * 50, [f"{i} {j}" for i in range(items)]) for j in range(arrays)]
    schema = pa.schema([("c", columns[0].type)])
    written = []
    for number, writer_class in enumerate((Ours, Theirs)):
        path = tmp_path / str(number)
        with writer_class(str(path), schema, version="2.0") as writer:
            for column in columns:
                writer.write_batch(pa.record_batch([column], schema=schema))
        written.append(path.read_bytes())

    assert written[0] == written[1]


def test_more_items_than_keys_can_tell_are_refused():
    """128 items and a null do not fit in int8."""
    array = _coded([0, None], list(range(128)))

    with pytest.raises(DataRefused, match="129"):
        _encoded(array)


def test_items_of_numbers_are_plain():
    """Values of fixed width after the keys."""
    found, buffers = _encoded(_coded([0, 0], [7]))

    assert found.items.WhichOneof("array_encoding") == "nullable"
    assert np.frombuffer(buffers[1], "<i8").tolist() == [7]


def test_strings_and_binaries_are_variable():
    """Large ones too, and nothing else."""
    types = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())

    assert set(STRINGS) == set(types)
    assert pa.binary(3) not in STRINGS
