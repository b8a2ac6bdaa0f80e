"""Blob pages (2.1, 2.2), written: values out of line, and a page of where they lie.

Each value that is not empty is written into the file at once; the page holds its position and
size. A null has size 0 and its levels where the position would be.

Layout: a mini-block page of packed structs (position u64, size u64) inside a `BlobLayout`. Size 0
is an empty value at position 0, else a null with position `definition << 16 | repetition`.

Clauses: L.page.layout.blob
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Variable
from lanceref.core.errors import NotStorable
from lanceref.file.column_writer import DataArea
from lanceref.file.payloads import DESCRIPTOR
from lanceref.pages.encode import Encoded, LeafPolicy, encode_dense
from lanceref.pages.leafvalues import stored_values
from lanceref.pages.shred import RavelledLevels, Shred, ravel
from lanceref.proto.encodings_v2_1_pb2 import BlobLayout, PageLayout


def store_blobs(rows: Shred, data: DataArea) -> tuple[Shred, tuple[int, ...]]:
    """Write the values of a leaf out of line; return their descriptors and the layer codes.

    Raises NotStorable for blobs in lists.
    """
    levels = ravel(rows)
    if levels.max_rep:
        raise NotStorable("blobs in lists have no layout that can be read")
    values = stored_values(rows.leaf)
    assert isinstance(values, Variable)  # a blob column is large_binary
    sizes = np.diff(values.offsets)
    positions = np.zeros(len(sizes), np.uint64)
    if levels.definition is not None:
        positions = levels.definition.astype(np.uint64) << np.uint64(16)
        sizes = np.where(levels.definition == 0, sizes, 0)
    for i in np.flatnonzero(sizes).tolist():
        start, end = int(values.offsets[i]), int(values.offsets[i + 1])
        positions[i] = data.write(values.data[start:end]).offset
    children = [pa.array(positions), pa.array(sizes.astype(np.uint64))]
    stored = pa.StructArray.from_arrays(
        children, fields=[field.with_nullable(False) for field in DESCRIPTOR]
    )
    return Shred((), stored, None), levels.codes


def encode_blobs(
    rows: Shred, levels: RavelledLevels, codes: tuple[int, ...], policy: LeafPolicy
) -> Encoded:
    """Return a page of descriptors; `codes` are the layers of the values themselves."""
    buffers, inner = encode_dense(rows, levels, replace(policy, structural=None))
    return buffers, PageLayout(blob_layout=BlobLayout(inner_layout=inner, layers=codes))  # type: ignore[arg-type]
