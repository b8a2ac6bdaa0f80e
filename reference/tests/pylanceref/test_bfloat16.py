"""The bfloat16 type of Arrow: values by hand, and against the library."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylanceref.arrow import BFloat16, BFloat16Array, BFloat16Type, bfloat16_array, cast

NEAREST = [(1.124565, "1.125"), (0.1, "0.100097656"), (-0.0, "-0"), (float("inf"), "inf")]


@pytest.mark.parametrize(("number", "text"), [*NEAREST, (float("nan"), "NaN"), (1.0, "1")])
def test_the_text_of_a_value(number, text):
    """As short as tells it from its neighbours, without an exponent."""
    assert text == str(BFloat16(number)) == repr(BFloat16(number))


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=30))
def test_numpy_has_the_same_values(numbers):
    """Values survive the way to NumPy and back."""
    values = np.array(numbers, np.float32).astype(ml_dtypes.bfloat16)
    array = BFloat16Array.from_numpy(values)

    assert array.equals(bfloat16_array(numbers))
    assert values.tobytes() == array.to_numpy().tobytes()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_floats_are_cast(kind):
    """Floats are cast to bfloat16 and from it, also inside of lists."""
    floats = pa.array([1.0, 2.0, 3.0, 4.0]).cast(kind)
    lists = pa.FixedSizeListArray.from_arrays(floats, 2)
    made = cast(lists, pa.list_(BFloat16Type(), 2))

    assert bfloat16_array([1.0, 2.0, 3.0, 4.0]) == made.values == cast(floats, "bf16")
    assert floats == cast(cast(floats, BFloat16Type()), kind)
    assert lists == cast(made, lists.type)


def test_other_casts():
    """Those of pyarrow, and what is refused."""
    assert pa.array(["1"]) == cast(pa.array([1]), pa.string())
    for array, target, told in [
        (bfloat16_array([1.0]), pa.int32(), "to floating array,got: int32"),
        (pa.array([1]), "bfloat16", "Only support casting floating array"),
        (pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), pa.list_(pa.float32(), 1), "same size"),
    ]:
        with pytest.raises(ValueError, match=told):
            cast(array, target)


READ = """
import sys
import pylanceref, pyarrow as pa
import pylanceref.arrow as types
tensor = pa.fixed_shape_tensor(types.BFloat16Type(), [3])
values = types.bfloat16_array([float(i) for i in range(9)])
vectors = pa.FixedSizeListArray.from_arrays(values, 3)
table = pa.table({
    "value": values.slice(0, 3),
    "vector": vectors,
    "tensor": pa.ExtensionArray.from_storage(tensor, vectors),
})
made = pylanceref.write_dataset(table, sys.argv[1])
assert table.schema == made.schema, made.schema
assert table == made.to_table()
"""


def _run(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


@pytest.mark.oracle
def test_what_we_write_is_the_oracles_type(tmp_path):
    """The oracle reads the same table with its own type."""
    path = str(tmp_path / "t")
    _run(READ, path)
    _run(
        "import lance, lance.arrow, sys\n"
        "table = lance.dataset(sys.argv[1]).to_table()\n"
        "assert isinstance(table['value'].type, lance.arrow.BFloat16Type)\n"
        "assert '8' == str(table['vector'].chunk(0).values[8].as_py())\n",
        path,
    )


def test_values_are_ordered():
    """Among each other only."""
    one, more = BFloat16(1.0), BFloat16(1.1)

    assert one < more and one <= more and more > one and more >= one and one != more
    assert BFloat16(1.124565) == BFloat16(1.125)
    assert one != 1.0
    with pytest.raises(TypeError):
        _ = one < 2.0


def test_a_value_is_two_bytes():
    """The upper ones of a float32; more or fewer are refused."""
    assert BFloat16(1.5) == BFloat16.from_bytes(b"\xc0\x3f")
    assert 1.5 == float(str(BFloat16.from_bytes(b"\xc0\x3f")))
    for wrong in (b"", b"\x00", b"\x00\x00\x00"):
        with pytest.raises(ValueError, match=f"expected 2 bytes, got {len(wrong)}"):
            BFloat16.from_bytes(wrong)


def test_an_array_with_a_null():
    """By value, as text, as storage."""
    array = bfloat16_array([1.1, None, 3.4])

    assert [BFloat16(1.1), None, BFloat16(3.4)] == array.to_pylist()
    assert str(array) == "[\n  1.1015625,\n  None,\n  3.40625\n]"
    assert repr(array).startswith("<lance.arrow.BFloat16Array object at 0x")
    assert array.storage.to_pylist() == [b"\x8d\x3f", None, b"\x5a\x40"]
    assert array[0] == BFloat16(1.1) and array[0] == array[0] and array[0] != array[2]
    assert array[0] == ml_dtypes.bfloat16(1.1)
    with pytest.raises(ValueError, match="null"):
        array.to_numpy()
    with pytest.raises(TypeError, match="must be real number, not str"):
        bfloat16_array(["x"])


def test_a_long_array_is_shown_by_its_ends():
    """Ten values of each."""
    text = str(bfloat16_array(range(30))).splitlines()

    assert ["[", "  0,", "...,", "  20,", "]"] == [text[i] for i in (0, 1, 11, 12, 22)]
