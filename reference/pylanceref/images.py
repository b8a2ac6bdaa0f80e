"""Images: where they lie, their encoded bytes, their pixels; as Arrow extension types (face).

Has the names of pylance's `lance.arrow`, where `pylanceref.arrow` gives them and makes the types
known to pyarrow. A table stores what lies below the type, and its name beside the field.

Layout of the storage of each type:

    lance.arrow.image_uri                 string or large_string     no parameters
    lance.arrow.encoded_image             binary or large_binary     no parameters
    lance.arrow.fixed_shape_image_tensor  fixed_size_list of pixels  JSON, {"shape": [sizes]}
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import urlparse

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from os import PathLike
    from types import ModuleType

    from numpy.typing import NDArray

SHOWN_BYTES = 30
"""Bytes of the first image that the text of encoded images shows."""

_STRINGS = (pa.StringArray, pa.LargeStringArray)
_BINARIES = (pa.BinaryArray, pa.LargeBinaryArray)


class _PlainType(pa.ExtensionType):  # type: ignore[misc]
    """A type without parameters over one of a few."""

    _name: ClassVar[str]
    _wanted: ClassVar[str]
    _storages: ClassVar[tuple[pa.DataType, ...]]

    def __init__(self, storage_type: pa.DataType | None = None) -> None:
        """Lie in a storage, of its first kind unless told. Raises ValueError for another."""
        storage = self._storages[0] if storage_type is None else storage_type
        if storage not in self._storages:
            raise ValueError(f"storage_type must be a {self._wanted} type")
        super().__init__(storage, self._name)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Self:
        return cls(storage_type)


class ImageURIType(_PlainType):
    """Where images lie."""

    _name = "lance.arrow.image_uri"
    _wanted = "string"
    _storages = (pa.string(), pa.large_string())

    def __arrow_ext_class__(self) -> type[ImageURIArray]:
        return ImageURIArray

    def __arrow_ext_scalar_class__(self) -> type[ImageURIScalar]:
        return ImageURIScalar


class EncodedImageType(_PlainType):
    """Bytes of images, each in any encoding."""

    _name = "lance.arrow.encoded_image"
    _wanted = "binary"
    _storages = (pa.binary(), pa.large_binary())

    def __arrow_ext_class__(self) -> type[EncodedImageArray]:
        return EncodedImageArray

    def __arrow_ext_scalar_class__(self) -> type[EncodedImageScalar]:
        return EncodedImageScalar


class FixedShapeImageTensorType(pa.ExtensionType):  # type: ignore[misc]
    """Pixels of images of one shape: `arrow_type` of one value, sizes of each dimension."""

    def __init__(self, arrow_type: pa.DataType, shape: Sequence[int]) -> None:
        """Hold as many values as the shape has. Raises AssertionError for no dimension."""
        assert len(shape) > 0
        self.shape = shape
        self.arrow_type = arrow_type
        storage = pa.list_(arrow_type, math.prod(shape))
        super().__init__(storage, "lance.arrow.fixed_shape_image_tensor")

    def __arrow_ext_serialize__(self) -> bytes:
        return json.dumps({"shape": self.shape}).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Self:
        try:
            kind = cls(
                storage_type.value_type, [int(size) for size in json.loads(serialized)["shape"]]
            )
        except (AssertionError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
            raise pa.ArrowInvalid(f"not the shape of an image: {serialized!r}") from None
        if kind.storage_type.list_size != storage_type.list_size or min(kind.shape) < 0:
            raise pa.ArrowInvalid(f"no image of shape {kind.shape} lies in {storage_type}")
        return kind

    def __arrow_ext_class__(self) -> type[FixedShapeImageTensorArray]:
        return FixedShapeImageTensorArray

    def __arrow_ext_scalar_class__(self) -> type[FixedShapeImageTensorScalar]:
        return FixedShapeImageTensorScalar


class ImageArray(pa.ExtensionArray):  # type: ignore[misc]
    """Images in one of the three forms."""

    def __repr__(self) -> str:
        return f"{self._title}\n{self.to_pylist()!r}"

    @property
    def _title(self) -> str:
        return f"<lance.arrow.{type(self).__name__} object at 0x{id(self):016x}>"

    @classmethod
    def from_array(cls, images: pa.Array | Iterable[str]) -> ImageArray:
        """Return strings as URIs, binaries as encoded images, a fixed shape tensor as pixels.

        Raises TypeError for what is neither an array of these nor iterable.
        """
        if isinstance(images, ImageArray):
            return images
        kind: pa.ExtensionType = ImageURIType()
        if isinstance(images, _STRINGS):
            kind = ImageURIType(images.type)
        elif isinstance(images, _BINARIES):
            kind = EncodedImageType(images.type)
        elif isinstance(images, pa.FixedShapeTensorArray):
            kind = FixedShapeImageTensorType(images.type.value_type, images.type.shape)
            images = images.storage
        elif isinstance(images, Iterable):
            images = pa.array(images, pa.string())
        else:
            raise TypeError(f"Cannot build a ImageArray from {type(images)}")
        made: ImageArray = pa.ExtensionArray.from_storage(kind, images)
        return made


class ImageURIArray(ImageArray):
    """Where images lie: paths, and URIs of file systems and of the web."""

    @classmethod
    def from_uris(cls, uris: pa.Array | Iterable[str | PathLike[str]]) -> ImageURIArray:
        """Return an array of strings, or strings and paths, as URIs. Raises TypeError."""
        if not isinstance(uris, _STRINGS):
            if not isinstance(uris, Iterable):
                raise TypeError(f"Cannot build a ImageURIArray from {type(uris)}")
            uris = pa.array([str(one) for one in uris], pa.string())
        made: ImageURIArray = cls.from_storage(ImageURIType(uris.type), uris)
        return made

    def read_uris(self, storage_type: pa.DataType | None = None) -> EncodedImageArray:
        """Return the bytes at each URI, as binary unless told. Raises OSError."""
        kind = EncodedImageType(storage_type)
        read = [_read(uri) for uri in self.storage.to_pylist()]
        made: EncodedImageArray = EncodedImageArray.from_storage(
            kind, pa.array(read, kind.storage_type)
        )
        return made


class EncodedImageArray(ImageArray):
    """Bytes of images."""

    def __repr__(self) -> str:
        if not len(self):
            return super().__repr__()
        first = self[0].as_py()
        pillow = _pillow()
        shown = None if pillow is None else f"\n[{pillow.open(io.BytesIO(first))!r}, ..]"
        return f"{self._title}{shown}\n{first[:SHOWN_BYTES]!r}"

    def to_tensor(
        self, decoder: Callable[[pa.Array], NDArray[np.generic] | pa.Array] | None = None
    ) -> FixedShapeImageTensorArray:
        """Return the pixels, from Pillow or from a function of the binaries.

        Its answer is an array of shape (images, *shape of one), or a fixed shape tensor. Raises
        ValueError where the images differ in shape, and where Pillow is wanted and missing.
        """
        if decoder is None:
            if _pillow() is None:
                raise ValueError(
                    "No image decoder available. Please install pillow or pass a decoder argument."
                )
            decoder = _decode
        pixels = decoder(self.storage)
        if isinstance(pixels, np.ndarray):
            pixels = pa.FixedShapeTensorArray.from_numpy_ndarray(pixels)
        kind = FixedShapeImageTensorType(pixels.type.value_type, tuple(pixels.type.shape))
        made: FixedShapeImageTensorArray = pa.ExtensionArray.from_storage(kind, pixels.storage)
        return made


class FixedShapeImageTensorArray(ImageArray):
    """Pixels of images of one shape."""

    def to_numpy(self) -> NDArray[np.generic]:
        """Return the pixels, of shape (images, *shape of one)."""
        kind = pa.fixed_shape_tensor(self.storage.type.value_type, self.type.shape)
        tensor = pa.ExtensionArray.from_storage(kind, self.storage)
        pixels: NDArray[np.generic] = tensor.to_numpy_ndarray()
        return pixels

    def to_encoded(
        self,
        encoder: Callable[[NDArray[np.generic]], pa.Array] | None = None,
        storage_type: pa.DataType | None = None,
    ) -> EncodedImageArray:
        """Return each image as PNG of Pillow, or as a function of all pixels encodes them.

        Raises ValueError where Pillow is wanted and missing.
        """
        kind = EncodedImageType(storage_type)
        pixels = self.to_numpy()
        if encoder is not None:
            encoded = encoder(pixels)
        elif _pillow() is not None:
            encoded = pa.array([_png(one) for one in pixels], kind.storage_type)
        else:
            raise ValueError(
                "No image encoder available. Please install pillow or pass an encoder argument."
            )
        made: EncodedImageArray = EncodedImageArray.from_storage(kind, encoded)
        return made


class ImageScalar(pa.ExtensionScalar):  # type: ignore[misc]
    """One image of an array."""

    def as_py(self, **kwargs: object) -> object:
        """Return what is stored; None for a null."""
        return None if self.value is None else self.value.as_py(**kwargs)


class ImageURIScalar(ImageScalar):
    """Where one image lies."""


class EncodedImageScalar(ImageScalar):
    """Bytes of one image."""


class FixedShapeImageTensorScalar(ImageScalar):
    """Pixels of one image, in one list."""


def _read(uri: str) -> bytes:
    """Return what lies at a URI or an absolute path. Raises OSError."""
    if urlparse(uri).scheme in ("http", "https"):
        from urllib.request import urlopen

        with urlopen(uri) as answer:
            body: bytes = answer.read()
        return body
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(uri)
    with system.open_input_stream(path) as stream:
        read: bytes = stream.read()
    return read


def _pillow() -> ModuleType | None:
    """Return the images of Pillow, None where it is not installed."""
    try:
        from PIL import Image
    except ImportError:
        return None
    image: ModuleType = Image
    return image


def _decode(images: pa.Array) -> NDArray[np.generic]:
    from PIL import Image

    return np.stack([np.asarray(Image.open(io.BytesIO(one))) for one in images.to_pylist()])


def _png(pixels: NDArray[np.generic]) -> bytes:
    from PIL import Image

    with io.BytesIO() as out:
        Image.fromarray(pixels).save(out, format="PNG")
        return out.getvalue()
