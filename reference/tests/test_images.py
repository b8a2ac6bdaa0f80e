"""Images as Arrow types: each test that needs the types known runs in a process of its own."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pylanceref.images import (
    EncodedImageArray,
    EncodedImageType,
    FixedShapeImageTensorArray,
    FixedShapeImageTensorType,
    ImageArray,
    ImageURIArray,
    ImageURIType,
)

PIXELS = np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3)
"""Two images of 3 rows of 4 pixels of three colours."""


def _tensor(pixels=PIXELS) -> FixedShapeImageTensorArray:
    return ImageArray.from_array(pa.FixedShapeTensorArray.from_numpy_ndarray(pixels))


@pytest.fixture
def uris(tmp_path) -> list[str]:
    """Where two images lie, as PNG."""
    paths = [tmp_path / f"{i}.png" for i in range(2)]
    for path, pixels in zip(paths, PIXELS):
        Image.fromarray(pixels).save(path)
    return [path.as_uri() for path in paths]


def test_uris_are_strings_of_either_size_and_paths():
    """The storage is what was given."""
    assert ["/a", "/b"] == ImageURIArray.from_uris([Path("/a"), "/b"]).to_pylist()
    for kind in (pa.string(), pa.large_string()):
        made = ImageURIArray.from_uris(pa.array(["/a", None], kind))

        assert ImageURIType(kind) == made.type
        assert ["/a", None] == made.to_pylist()
    with pytest.raises(TypeError, match="Cannot build a ImageURIArray from <class 'int'>"):
        ImageURIArray.from_uris(3)


def test_an_array_of_images_is_made_of_what_holds_them():
    """Strings are URIs, binaries encoded images, fixed shape tensors pixels."""
    binary = pa.array([b"1"], pa.large_binary())
    encoded = ImageArray.from_array(binary)

    assert ImageURIType() == ImageArray.from_array(["/a"]).type
    assert ImageURIType(pa.large_string()) == ImageArray.from_array(binary.cast("large_utf8")).type
    assert EncodedImageType(pa.large_binary()) == encoded.type
    assert FixedShapeImageTensorType(pa.uint8(), (3, 4, 3)) == _tensor().type
    assert encoded is ImageArray.from_array(encoded)
    with pytest.raises(TypeError, match="Cannot build a ImageArray from <class 'int'>"):
        ImageArray.from_array(3)


def test_images_are_read_decoded_and_encoded(uris):
    """PNG loses nothing."""
    encoded = ImageURIArray.from_uris(uris).read_uris()
    decoded = encoded.to_tensor()

    assert isinstance(encoded, EncodedImageArray)
    assert PIXELS.tolist() == decoded.to_numpy().tolist()
    assert PIXELS[0].ravel().tolist() == decoded[0].as_py()
    again = decoded.to_encoded(storage_type=pa.large_binary())
    assert EncodedImageType(pa.large_binary()) == again.type
    assert decoded == again.to_tensor()


def test_what_cannot_be_read_raises(tmp_path):
    """As the file system says it."""
    with pytest.raises(OSError, match=r"nowhere\.png"):
        ImageURIArray.from_uris([tmp_path / "nowhere.png"]).read_uris()


def test_functions_of_the_caller_decode_and_encode():
    """A decoder gives an array or a tensor, an encoder an array of binaries."""
    encoded = ImageArray.from_array(pa.array([b"abc", b"def"]))
    wanted = [[97, 98, 99], [100, 101, 102]]

    def decoded(images: pa.Array) -> np.ndarray:
        return np.array([list(one) for one in images.to_pylist()], np.uint8)

    def tensor(images: pa.Array) -> pa.Array:
        return pa.FixedShapeTensorArray.from_numpy_ndarray(decoded(images))

    for decoder in (decoded, tensor):
        pixels = encoded.to_tensor(decoder)
        assert wanted == pixels.to_numpy().tolist()
        assert encoded == pixels.to_encoded(lambda held: pa.array([one.tobytes() for one in held]))


def test_without_pillow_a_function_is_wanted(monkeypatch):
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(ValueError, match=r"No image decoder available\. Please install pillow"):
        ImageArray.from_array(pa.array([b"abc"])).to_tensor()
    with pytest.raises(ValueError, match=r"No image encoder available\. Please install pillow"):
        _tensor().to_encoded()


def test_texts_show_what_is_held(uris):
    """The values; of encoded images the first one and its first bytes."""
    array = ImageURIArray.from_uris(["/a"])
    encoded = ImageURIArray.from_uris(uris).read_uris()
    lines = repr(encoded).split("\n")

    assert f"<lance.arrow.ImageURIArray object at 0x{id(array):016x}>\n['/a']" == repr(array)
    assert f"<lance.arrow.EncodedImageArray object at 0x{id(encoded):016x}>" == lines[0]
    assert lines[1].startswith("[<PIL.PngImagePlugin.PngImageFile image mode=RGB size=4x3 at 0x")
    assert lines[1].endswith(">, ..]")
    assert repr(encoded[0].as_py()[:30]) == lines[2]
    assert repr(encoded[:0]).endswith("\n[]")


@pytest.mark.parametrize("kind", [ImageURIType, EncodedImageType])
def test_other_storages_are_refused(kind):
    """URIs are strings, encoded images binaries."""
    with pytest.raises(ValueError, match=r"storage_type must be a (string|binary) type"):
        kind(pa.int32())


def test_types_and_arrays_are_copied_by_pickle():
    """With their parameters."""
    arrays = [ImageURIArray.from_uris(["/a"]), ImageArray.from_array(pa.array([b"a"])), _tensor()]
    for array in arrays:
        assert array.type == pickle.loads(pickle.dumps(array.type))
        assert array == pickle.loads(pickle.dumps(array))


def test_an_image_tensor_has_a_dimension():
    """One at least."""
    with pytest.raises(AssertionError):
        FixedShapeImageTensorType(pa.uint8(), ())


TABLE = """
import sys
import {module}.arrow as types, {module}, pyarrow as pa, numpy as np
pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
table = pa.table({{
    "uri": types.ImageURIArray.from_uris(["/a", "/b"]),
    "large": types.ImageArray.from_array(pa.array(["/a", None], pa.large_string())),
    "encoded": types.ImageArray.from_array(pa.array([b"a", b""])),
    "pixels": types.ImageArray.from_array(pa.FixedShapeTensorArray.from_numpy_ndarray(pixels)),
}})
"""
WRITE = "{module}.write_dataset(table, sys.argv[1], data_storage_version=sys.argv[2])\n"
READ = """
read = {module}.dataset(sys.argv[1]).to_table()
assert table.schema.equals(read.schema, check_metadata=True), read.schema
assert table == read
assert types.ImageURIType() == read["uri"].type
assert pixels.tolist() == read["pixels"].chunk(0).to_numpy().tolist()
assert table == {module}.dataset(sys.argv[1]).take([0, 1])
"""


def _run(code: str, module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code.format(module=module), *arguments], check=True)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_a_table_has_the_types(tmp_path, version):
    """Written and read, they are what they were."""
    _run(TABLE + WRITE + READ, "pylanceref", str(tmp_path / "t"), version)


@pytest.mark.oracle
@pytest.mark.parametrize("modules", [("lance", "pylanceref"), ("pylanceref", "lance")])
def test_either_reads_the_types_of_the_other(tmp_path, modules):
    """With types of its own."""
    writer, reader = modules
    _run(TABLE + WRITE, writer, str(tmp_path / "t"), "2.1")
    _run(TABLE + READ, reader, str(tmp_path / "t"))


def test_an_image_lies_in_memory_as_pillow_wrote_it(uris):
    """No byte of a file changes on the way."""
    stream = io.BytesIO(ImageURIArray.from_uris(uris).read_uris()[1].as_py())

    assert PIXELS[1].tolist() == np.asarray(Image.open(stream)).tolist()


@pytest.mark.parametrize(
    "stored", [b"nope", b"{}", b"[]", b'{"shape": []}', b'{"shape": [3]}', b'{"shape": [-2, -2]}']
)
def test_a_shape_that_is_none_is_refused(stored):
    """With the error for which a field stays what lies in it."""
    with pytest.raises(pa.ArrowInvalid):
        FixedShapeImageTensorType.__arrow_ext_deserialize__(pa.list_(pa.uint8(), 4), stored)
