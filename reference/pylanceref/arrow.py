"""Arrow types of pylance (face); importing this makes them known to pyarrow."""

from __future__ import annotations

import importlib
from contextlib import suppress

import pyarrow as pa

from pylanceref.bfloat16 import (
    BFloat16,
    BFloat16Array,
    BFloat16Scalar,
    BFloat16Type,
    bfloat16_array,
    cast,
)
from pylanceref.images import (
    EncodedImageArray,
    EncodedImageScalar,
    EncodedImageType,
    FixedShapeImageTensorArray,
    FixedShapeImageTensorScalar,
    FixedShapeImageTensorType,
    ImageArray,
    ImageScalar,
    ImageURIArray,
    ImageURIScalar,
    ImageURIType,
)

__all__ = [
    "BFloat16",
    "BFloat16Array",
    "BFloat16Scalar",
    "BFloat16Type",
    "EncodedImageArray",
    "EncodedImageScalar",
    "EncodedImageType",
    "FixedShapeImageTensorArray",
    "FixedShapeImageTensorScalar",
    "FixedShapeImageTensorType",
    "ImageArray",
    "ImageScalar",
    "ImageURIArray",
    "ImageURIScalar",
    "ImageURIType",
    "bfloat16_array",
    "cast",
]

_FRAMES = frozenset({"PandasBFloat16Array", "PandasBFloat16Type"})
"""Names that stand here too, and need pandas."""

for _known in (
    BFloat16Type(),
    ImageURIType(),
    EncodedImageType(),
    FixedShapeImageTensorType(pa.uint8(), (0,)),
):
    with suppress(pa.ArrowKeyError):  # who has the name already reads the same bytes
        pa.register_extension_type(_known)


def __getattr__(name: str) -> object:
    if name not in _FRAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("pylanceref.bfloat16_frames"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
