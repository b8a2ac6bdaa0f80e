"""Blob pages: descriptors, payloads and nulls."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LanceError, UnknownEncoding
from lanceref.core.file_versions import V2_1
from lanceref.file.column_io import DESCRIPTOR
from lanceref.file.schema import Field
from lanceref.pages.blob import BlobPage
from lanceref.pages.column import assemble, open_page
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.storage import BytesSource

from .building import chunk, chunk_table, field_of, flat, path_to, scanned, stored, words

BLOB = {"lance-encoding:blob": "true"}
LEAF = replace(field_of(pa.large_binary()), metadata=BLOB)
NULL = 1 << 16
AT = 256
"""Where the payloads of `_page` lie: after the chunk table and the chunk."""


def _descriptors() -> pb.CompressiveEncoding:
    packed = pb.PackedStruct(bits_per_value=[64, 64], values=flat(128))
    return pb.CompressiveEncoding(packed_struct=packed)


def _page(
    *rows: tuple[int, int], layers: tuple[int, ...] = (3,), inner: int = 1, field: Field = LEAF
) -> BlobPage:
    """A page, and the bytes `payload` after it."""
    descriptors = chunk(b"".join(words(*row, width=8) for row in rows))
    mini = pb.MiniBlockLayout(
        value_compression=_descriptors(), num_items=len(rows), num_buffers=1, layers=[inner]
    )
    layout = pb.BlobLayout(inner_layout=pb.PageLayout(mini_block_layout=mini), layers=layers)
    encoding = pb.PageLayout(blob_layout=layout)
    buffers = (chunk_table((descriptors, 0)), descriptors)
    file, described = stored(encoding, len(rows), *buffers)
    data = bytes(file.source.read(0, file.size)).ljust(AT, b"H") + b"payload"
    source = FileBytes(BytesSource(data), file.ctx)
    page = open_page(source, path_to(field), described, V2_1)
    assert isinstance(page, BlobPage)
    return page


def _values(page: BlobPage) -> list[object]:
    return scanned(page, LEAF)


def test_descriptors_lead_to_payloads() -> None:
    """Size 0 is an empty value at position 0 and a null at its definition level."""
    page = _page((AT, 3), (0, 0), (NULL, 0), (AT + 3, 4))

    with pytest.raises(LanceError):
        _page((AT + 4, 400)).take(np.array([0]))
    assert _values(page) == [b"pay", b"", None, b"load"]
    assert page.take(np.array([1, 3])).leaf.to_pylist() == [b"", b"load"]
    assert [(e.offset, e.size) for e in page.payload_extents()] == [(AT, 3), (AT + 3, 4)]


def test_a_field_of_descriptors_shows_them() -> None:
    """With the descriptor type the positions are the values, and nulls are null."""
    field = replace(LEAF, arrow=LEAF.arrow.with_type(DESCRIPTOR))
    page = _page((AT, 3), (NULL, 0), (0, 0), field=field)

    assert page.take(np.array([0, 1, 2])).leaf.to_pylist() == [
        {"position": AT, "size": 3},
        None,
        {"position": 0, "size": 0},
    ]


def test_levels_tell_which_struct_is_null() -> None:
    """Level 1 is a null blob, level 2 a null struct."""
    type_ = pa.struct([pa.field("b", pa.large_binary(), metadata=BLOB)])
    field = replace(field_of(type_), children=(replace(LEAF, name="b"),))
    page = _page((AT, 3), (NULL, 0), (2 * NULL, 0), layers=(3, 3), field=field)

    rows = [assemble(field, [part], None) for part in page.scan(0, 3)]
    assert pa.concat_arrays(rows).to_pylist() == [{"b": b"pay"}, {"b": None}, None]


@pytest.mark.parametrize("position", [2 * NULL, NULL + 1, 1, 2**32, 2**63])
def test_a_null_of_other_levels_is_refused(position: int) -> None:
    """A null's position is a definition level of the layers, without repetition."""
    with pytest.raises(CorruptPage, match=r"L\.page\.blob\.null"):
        _values(_page((position, 0)))


def test_without_nullable_layers_no_position_is_a_null() -> None:
    """All-valid layers have no level that could be null."""
    with pytest.raises(CorruptPage, match=r"L\.page\.blob\.null"):
        _values(_page((NULL, 0), layers=(1,)))


@pytest.mark.parametrize("row", [(AT, 2**63), (2**63, 2), (AT + 5, 3)])
def test_payloads_lie_inside_the_file(row: tuple[int, int]) -> None:
    """A payload beyond the end, or of more bytes than any file, is refused."""
    with pytest.raises(LanceError, match=r"L\.page\.blob\.payload"):
        _values(_page(row))


def test_descriptors_are_never_null() -> None:
    """The inner layout has the layer 1 and nothing else."""
    with pytest.raises(CorruptPage, match=r"L\.page\.blob\.inner"):
        _page((0, 0), inner=3)


def test_the_field_is_one_of_blobs() -> None:
    """A blob page belongs to a large_binary field whose metadata says so."""
    for field in (field_of(pa.large_binary()), replace(field_of(pa.binary()), metadata=BLOB)):
        with pytest.raises(CorruptPage, match=r"L\.page\.blob\.column"):
            _page((0, 0), field=field)


def test_blobs_below_lists_are_not_supported() -> None:
    """List layers are legal, and nobody writes them so that they can be read."""
    lists = replace(field_of(pa.list_(pa.large_binary())), children=(LEAF,))
    with pytest.raises(UnknownEncoding, match=r"L\.page\.layout\.blob"):
        _page((0, 0), layers=(1, 2), field=lists)
