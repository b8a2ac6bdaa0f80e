"""Odd codecs: whatever is drawn, the values come back."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs.blocks import decode_levels
from lanceref.codecs.choose import Kind
from lanceref.codecs.compressive import decode_mini
from lanceref.core.errors import Place
from lanceref.core.file_versions import V2_1, V2_2
from lanceref.pages.leafvalues import kind_of, leaf_array, stored_values
from lanceref_testing.odd_codecs import odd_counts, odd_levels, odd_mini
from lanceref_testing.oddities import Chance

from ..codecs.encoded_runs import parts_of
from ..codecs.runs import run_of

ARRAYS = {
    "int32": pa.array([i * 37 % 101 for i in range(700)], pa.int32()),
    "int64": pa.array([2**62 - i for i in range(300)]),
    "bool": pa.array([i % 3 == 0 for i in range(500)]),
    "string": pa.array([f"value {i % 40}" for i in range(400)]),
    "large_binary": pa.array([bytes([i % 256]) * (i % 9) for i in range(300)], pa.large_binary()),
    "vector": pa.array([[i % 100, 1, 2] for i in range(200)], pa.list_(pa.int16(), 3)),
    "packed": pa.array([{"x": i, "y": 1.5} for i in range(90)]),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ARRAYS)
def test_odd_chunks_give_the_values_back(name, seed):
    """Decoded as a reader does, in chunks of any size and by any codec."""
    array = ARRAYS[name]

    blocks = odd_mini(Chance(seed), stored_values(array), kind_of(array.type), V2_2)

    buffers = [parts_of(buffer) for buffer in blocks.buffers]
    run = run_of(*buffers, counts=blocks.counts.tolist())
    values = decode_mini(blocks.encoding, run)
    assert leaf_array(array.type, values, None, Place("f", 0)).to_pylist() == array.to_pylist()


@pytest.mark.parametrize("version", [V2_1, V2_2])
@pytest.mark.parametrize("seed", range(12))
def test_odd_levels_give_the_levels_back(seed, version):
    """Plain, packed to any width, runs."""
    rng = Chance(seed)
    levels = np.array([rng.choice((0, 0, 0, 1, 2)) for _ in range(3000)], np.uint16)
    counts = odd_counts(rng, 3000, 2)

    encoding, data, sizes = odd_levels(rng, levels, counts, version)

    run = run_of(parts_of((data, sizes)), counts=counts.tolist())
    assert decode_levels(encoding, run).astype(int).tolist() == levels.tolist()


def test_counts_are_powers_of_two_but_for_the_last():
    """And they add up."""
    counts = odd_counts(Chance(1), 5000, 8).tolist()

    assert sum(counts) == 5000
    assert all(count & count - 1 == 0 and count > 1 for count in counts[:-1])


def test_the_kind_of_a_dictionary_is_that_of_its_items():
    """Wide offsets and text are properties of the items."""
    assert kind_of(pa.dictionary(pa.int8(), pa.large_string())) == Kind(wide=True, is_text=True)
