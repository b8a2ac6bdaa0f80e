"""bfloat16 in data frames: the type and the array that pandas knows (face).

Has the names of pylance's `lance.arrow`; importing it makes the type known to pandas.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Self

import ml_dtypes
import numpy as np
import pyarrow as pa
from lanceref.core.logical_types import BFLOAT16
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype

from pylanceref.bfloat16 import BFloat16, BFloat16Array, BFloat16Type, bfloat16_array


@register_extension_dtype
class PandasBFloat16Type(ExtensionDtype):  # type: ignore[misc]
    """The type of a column."""

    kind = "f"
    na_value = None
    name = BFLOAT16
    names = None
    type = BFloat16
    _is_numeric = True

    def __from_arrow__(self, array: pa.Array | pa.ChunkedArray) -> PandasBFloat16Array:
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        return PandasBFloat16Array(array)

    @classmethod
    def construct_array_type(cls) -> builtins.type[PandasBFloat16Array]:
        """Return the class of the columns."""
        return PandasBFloat16Array

    @classmethod
    def construct_from_string(cls, string: str) -> PandasBFloat16Type:
        """Return the type by its name. Raises TypeError for another."""
        if string != cls.name:
            raise TypeError(f"Cannot construct a '{cls.__name__}' from '{string}'")
        return cls()


class PandasBFloat16Array(ExtensionArray):  # type: ignore[misc]
    """A column: an Arrow array."""

    dtype = PandasBFloat16Type()

    def __init__(self, data: BFloat16Array) -> None:
        self.data = data

    @classmethod
    def _from_sequence(
        cls, scalars: Iterable[BFloat16 | float | None], *, dtype: object = None, copy: bool = False
    ) -> PandasBFloat16Array:
        numbers = [one.as_float() if isinstance(one, BFloat16) else one for one in scalars]
        return cls(bfloat16_array(numbers))

    @classmethod
    def from_numpy(cls, array: NDArray[ml_dtypes.bfloat16]) -> PandasBFloat16Array:
        """Return values as a column."""
        return cls(BFloat16Array.from_numpy(array))

    def __getitem__(self, item: object) -> object:
        if isinstance(item, int | np.integer):
            return self.data[int(item)].as_py()
        if isinstance(item, slice):
            return PandasBFloat16Array(self.data[item])
        chosen = np.asarray(item)
        rows = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        return self.take(rows)

    def take(
        self, indices: NDArray[np.int64], *, allow_fill: bool = False, fill_value: object = None
    ) -> PandasBFloat16Array:
        """Return rows by position; -1 is a null where that is allowed."""
        rows = pa.array(indices, pa.int64(), mask=np.asarray(indices) < 0 if allow_fill else None)
        storage = self.data.storage.take(rows)
        return PandasBFloat16Array(pa.ExtensionArray.from_storage(BFloat16Type(), storage))

    def copy(self) -> Self:
        """Return the column itself: it never changes."""
        return self

    def __len__(self) -> int:
        return len(self.data)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return int(self.data.nbytes)

    def isna(self) -> NDArray[np.bool_]:
        """Return where the nulls are."""
        held: NDArray[np.bool_] = self.data.is_null().to_numpy(zero_copy_only=False)
        return held

    def to_numpy(self, *args: object, **kwargs: object) -> NDArray[ml_dtypes.bfloat16]:
        """Return the values. Raises ValueError for a null."""
        return self.data.to_numpy()

    def __arrow_array__(self, type: pa.DataType | None = None) -> BFloat16Array:
        return self.data
