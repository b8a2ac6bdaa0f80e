"""bfloat16: the upper half of a float32, as an Arrow extension type (face).

Has the names of pylance's `lance.arrow`. A value is stored in two bytes of a fixed-size binary
under the extension name. Importing this module registers the type with pyarrow, so that a table
read has it too.

Layout of a value: u16 little-endian; 1 bit sign, 8 bits exponent, 7 bits mantissa.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import total_ordering

import ml_dtypes
import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.file.schema import BFLOAT16
from numpy.typing import NDArray

from pylanceref.late_names import late_names

__all__ = ["BFloat16", "BFloat16Array", "BFloat16Scalar", "BFloat16Type", "bfloat16_array", "cast"]
_IMAGES = "FixedShapeImageTensorType ImageArray ImageURIArray PandasBFloat16Array"
__getattr__ = late_names(__name__, {}, _IMAGES)
SHOWN = 10
"""Values at each end of a long array that its text shows."""


@total_ordering
class BFloat16:
    """One value: the nearest one to a number."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float) -> None:
        self._value = float(np.float32(value).astype(ml_dtypes.bfloat16))

    @classmethod
    def from_bytes(cls, bytes: bytes) -> BFloat16:
        """Return the value of two bytes. Raises ValueError for more or fewer."""
        if len(bytes) != 2:
            raise ValueError(f"BFloat16::from_bytes: expected 2 bytes, got {len(bytes)}")
        return cls(float(np.frombuffer(bytes, ml_dtypes.bfloat16)[0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloat16) and self._value == other._value

    def __lt__(self, other: BFloat16) -> bool:
        if not isinstance(other, BFloat16):
            return NotImplemented
        return self._value < other._value

    def __repr__(self) -> str:
        value = np.float32(self._value)
        return "NaN" if np.isnan(value) else np.format_float_positional(value, trim="-")


class BFloat16Array(pa.ExtensionArray):  # type: ignore[misc]
    """An array of values, any of which may be null."""

    def __repr__(self) -> str:
        return f"<lance.arrow.BFloat16Array object at 0x{id(self):016x}>\n{self}"

    def __str__(self) -> str:
        values = [f"  {one}" for one in self]
        if len(values) > 2 * SHOWN + 1:
            values[SHOWN:-SHOWN] = ["..."]
        return "[\n" + ",\n".join(values) + "\n]"

    def to_numpy(self, zero_copy_only: bool = False) -> NDArray[ml_dtypes.bfloat16]:
        """Return the values without a copy. Raises ValueError for a null: (values,)."""
        if self.null_count > 0:
            raise ValueError("Cannot convert null values to numpy")
        held = np.frombuffer(self.storage.buffers()[1], ml_dtypes.bfloat16)
        return held[self.storage.offset : self.storage.offset + len(self)]

    @classmethod
    def from_numpy(cls, array: NDArray[ml_dtypes.bfloat16]) -> BFloat16Array:
        """Return a vector (n,) of bfloat16 as an array. Raises ValueError for another one."""
        if array.dtype != ml_dtypes.bfloat16:
            raise ValueError("Cannot convert non-bfloat16 values to BFloat16Array")
        if array.ndim != 1:
            raise ValueError("Cannot convert multi-dimensional array to BFloat16Array")
        return _of_bytes(array, None)


class BFloat16Scalar(pa.ExtensionScalar):  # type: ignore[misc]
    """One value of a bfloat16 array, or a null."""

    def as_py(self, **kwargs: object) -> BFloat16 | None:
        """Return the value, None for a null."""
        return None if self.value is None else BFloat16.from_bytes(self.value.as_py())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ml_dtypes.bfloat16):
            other = BFloat16(float(other))
        if isinstance(other, BFloat16Scalar):
            other = other.as_py()
        return bool(self.as_py() == other)

    __hash__ = None  # type: ignore[assignment]


class BFloat16Type(pa.ExtensionType):  # type: ignore[misc]
    """The type: two bytes under a name, without parameters."""

    def __init__(self) -> None:
        super().__init__(pa.binary(2), BFLOAT16)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(
        cls, storage_type: pa.DataType, serialized: bytes
    ) -> BFloat16Type:
        if storage_type != pa.binary(2):
            raise TypeError(f"{BFLOAT16} lies in 2 bytes, not in {storage_type}")
        return cls()

    def __arrow_ext_class__(self) -> type[BFloat16Array]:
        return BFloat16Array

    def __arrow_ext_scalar_class__(self) -> type[BFloat16Scalar]:
        return BFloat16Scalar


def bfloat16_array(values: Iterable[float | None]) -> BFloat16Array:
    """Return numbers as an array of the values nearest to them. Raises TypeError."""
    numbers = list(values)
    held = [0.0 if one is None else one for one in numbers]
    for one in held:
        if not isinstance(one, int | float | np.number):
            raise TypeError(f"argument 'values': must be real number, not {type(one).__name__}")
    nulls = np.array([one is None for one in numbers], np.bool_)
    return _of_bytes(np.array(held, np.float32).astype(ml_dtypes.bfloat16), nulls)


def cast(
    arr: pa.Array, target_type: pa.DataType | str, *args: object, **kwargs: object
) -> pa.Array:
    """Cast as pyarrow does, and between floats and bfloat16, in lists too. Raises ValueError."""
    if isinstance(arr.type, BFloat16Type):
        if isinstance(target_type, str) or not pa.types.is_floating(target_type):
            raise ValueError(
                f"Only support casting bfloat16 array to floating array,got: {target_type}"
            )
        return pa.array(arr.to_numpy().astype(target_type.to_pandas_dtype()))
    if isinstance(target_type, BFloat16Type) or target_type in ("bfloat16", "bf16"):
        if not pa.types.is_floating(arr.type):
            raise ValueError(
                f"Only support casting floating array to bfloat16 array,got: {arr.type}"
            )
        return BFloat16Array.from_numpy(arr.to_numpy().astype(ml_dtypes.bfloat16))
    lists = pa.types.is_fixed_size_list
    if lists(arr.type) and isinstance(target_type, pa.DataType) and lists(target_type):
        if arr.type.list_size != target_type.list_size:
            raise ValueError(f"{arr.type} and {target_type} have not the same size")
        values = cast(arr.values, target_type.value_type)
        return pa.FixedSizeListArray.from_arrays(values, target_type.list_size)
    return pc.cast(arr, target_type, *args, **kwargs)


def _of_bytes(
    values: NDArray[ml_dtypes.bfloat16], nulls: NDArray[np.bool_] | None
) -> BFloat16Array:
    """Return an array of values, those under `nulls` null."""
    valid = None
    if nulls is not None and nulls.any():
        valid = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values).tobytes())
    made: BFloat16Array = pa.Array.from_buffers(BFloat16Type(), len(values), [valid, data])
    return made


with suppress(pa.ArrowKeyError):  # another library registered the same type before
    pa.register_extension_type(BFloat16Type())
