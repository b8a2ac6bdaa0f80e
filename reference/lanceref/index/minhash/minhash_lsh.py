"""MINHASHLSH: rows with much of a text in common.

Of every row that has a token there is a signature, and each of its bands with a number of the row.
A search reads the pages that may hold the bands of a text, and of the rows there the signatures.

Layout: `signatures.lance`: _rowid u64, signature fixed-size list of u16. `bands.lance`: band_key
u64, doc_id u32 (row of the other file), ascending; metadata minhash_lsh_num_docs,
minhash_lsh_page_rows and minhash_lsh_page_table_buffer: of each page of so many rows the last key,
u64, in that global buffer. Metadata of both: minhash_lsh_details, hexadecimal digits of the
details, and minhash_lsh_index_version.

Clauses: L.index.minhash.details, L.index.minhash.version, L.index.minhash.docs,
L.index.minhash.bands, L.index.minhash.pages
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.errors import CorruptPage, OperationRefused
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.minhash.bands import BANDS, PREFIX, SIGNATURES, VERSION, MinHashLsh
from lanceref.index.minhash.parameters import (
    MinHashParameters,
    describe_minhash,
    requested_parameters,
)
from lanceref.index.minhash.signature import Signatures, Signer, band_keys
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.scalar.ngram import is_text
from lanceref.index.segment import Moved, Segment
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training

PAGE_ROWS = 4096
PAGE_BUFFER = 1

_PLAIN = {"lance-encoding:compression": "none"}
_WHOLE = {**_PLAIN, "lance-encoding:structural-encoding": "fullzip"}

BAND_SCHEMA = pa.schema(
    [
        pa.field("band_key", pa.uint64(), nullable=False, metadata=_PLAIN),
        pa.field("doc_id", pa.uint32(), nullable=False, metadata=_PLAIN),
    ]
)


def _write(
    keys: Keys, signatures: Signatures, parameters: MinHashParameters, writer: SegmentWriter
) -> Built:
    """Write documents; bands stand by key and document."""
    details = parameters.details.SerializeToString(deterministic=True).hex()
    metadata = {f"{PREFIX}details": details, f"{PREFIX}index_version": f"{VERSION}"}
    type_ = pa.list_(pa.uint16(), parameters.num_hashes)
    schema = pa.schema(
        [
            pa.field("_rowid", pa.uint64(), nullable=False),
            pa.field("signature", type_, nullable=False, metadata=_WHOLE),
        ]
    )
    values = pa.array(np.ascontiguousarray(signatures).reshape(-1))
    lists = pa.FixedSizeListArray.from_arrays(values, parameters.num_hashes)
    rows = pa.record_batch([pa.array(keys), lists.cast(type_)], schema=schema)
    writer.write_file(SIGNATURES, schema, [rows] * bool(len(keys)), metadata)
    bands = band_keys(signatures, parameters.num_bands)
    documents = np.repeat(np.arange(len(keys), dtype=np.uint32), parameters.num_bands)
    order = np.lexsort((documents, bands.reshape(-1)))
    sorted_keys, documents = bands.reshape(-1)[order], documents[order]
    last = np.append(sorted_keys[PAGE_ROWS - 1 :: PAGE_ROWS], sorted_keys[-1:])
    last = last[: -(-len(sorted_keys) // PAGE_ROWS)]
    metadata |= {
        f"{PREFIX}num_docs": f"{len(keys)}",
        f"{PREFIX}page_rows": f"{PAGE_ROWS}",
        f"{PREFIX}page_table_buffer": f"{PAGE_BUFFER}",
    }
    batch = pa.record_batch([pa.array(sorted_keys), pa.array(documents)], schema=BAND_SCHEMA)
    buffers = [last.astype("<u8").tobytes()]
    writer.write_file(BANDS, BAND_SCHEMA, [batch] * bool(len(keys)), metadata, buffers)
    return Built(parameters.details, VERSION)


def _trained(
    training: Training, parameters: MinHashParameters
) -> Iterator[tuple[Keys, Signatures]]:
    """Yield keys and signatures of rows that have a token."""
    signer = Signer(parameters)
    for run in training.runs():
        numbers, signatures = signer.sign(run.values.to_pylist())
        yield run.keys[numbers], signatures


def _joined(
    parts: Sequence[tuple[Keys, Signatures]], parameters: MinHashParameters
) -> tuple[Keys, Signatures]:
    nothing = np.empty((0, parameters.num_hashes), np.uint16)
    keys = np.concatenate([NO_KEYS, *(keys for keys, _ in parts)])
    return keys, np.concatenate([nothing, *(signatures for _, signatures in parts)])


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows. Raises OperationRefused."""
    asked = requested_parameters(parameters)
    return _write(*_joined(list(_trained(training, asked)), asked), asked, writer)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment. Raises OperationRefused."""
    opened = [(MinHashLsh(segment), moved) for segment, moved in segments]
    parameters = opened[0][0].parameters
    if any(one.parameters != parameters for one, _ in opened):
        raise OperationRefused("MinHash LSH segments of other parameters cannot be merged")
    parts = []
    for one, moved in opened:
        keys, signatures = one.all()
        kept, after = moved(keys)
        parts.append((after, signatures[kept]))
    parts += _trained(training, parameters)
    return _write(*_joined(parts, parameters), parameters, writer)


def check(segment: Segment) -> None:
    """Make every band from the signatures again. Raises CorruptPage."""
    index = MinHashLsh(segment)
    _, signatures = index.all()
    keys, documents = index.bands(0, index.num_docs * index.parameters.num_bands)
    made = band_keys(signatures, index.parameters.num_bands)
    numbers = np.repeat(np.arange(index.num_docs), index.parameters.num_bands)
    order = np.lexsort((numbers, made.reshape(-1)))
    if not np.array_equal(keys, made.reshape(-1)[order]) or not np.array_equal(
        documents, numbers[order]
    ):
        raise CorruptPage(
            "L.index.minhash.band-key",
            segment.file(BANDS).place,
            found="other bands",
            wanted="those of the signatures, by key and document",
        )
    index.check_pages(keys)


def entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return the bytes of the signature and the key of every row that has one."""
    keys, signatures = MinHashLsh(segment).all()
    return _as_bytes(signatures), keys


def _as_bytes(signatures: Signatures) -> pa.Array:
    data = np.ascontiguousarray(signatures, "<u2")
    buffers = [None, pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(pa.binary(2 * data.shape[1]), len(data), buffers)


def rows_of(training: Training, segment: Segment) -> Training:
    """Return the bytes of the signatures of rows that have a token."""
    signer = Signer(MinHashLsh(segment).parameters)
    held = []
    for run in training.runs():
        numbers, signatures = signer.sign(run.values.to_pylist())
        held.append(replace(run, values=_as_bytes(signatures), keys=run.keys[numbers]))
    return training.of(held)


MINHASHLSH = Kind(
    name="MINHASHLSH",
    shown="MinHashLsh",
    details="lance.index.pb.MinHashLshIndexDetails",
    version=VERSION,
    exact=(),
    inexact=(),
    accepts=is_text,
    open=MinHashLsh,
    build=build,
    rewrite=rewrite,
    inherits="one",
    check=check,
    entries=entries,
    rows_of=rows_of,
    describe=describe_minhash,
)
"""The index type."""
