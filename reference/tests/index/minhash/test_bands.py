"""Bands and signatures, read."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError, LanceError
from lanceref.index.minhash import minhash_lsh
from lanceref.index.minhash.minhash_lsh import MinHashLsh, check

from ..rewriting import rewritten
from .texts import TEXTS, make, opened

FEW = {"num_hashes": 4, "num_bands": 2, "shingle_size": 1}
U64 = pa.uint64()


@pytest.fixture
def segment(tmp_path):
    """A segment over two texts, of two bands each."""
    (found,) = make(["a b", None, "c", ""], tmp_path, FEW)._snapshot.indices.segments
    return found


def table(*keys: int) -> tuple[bytes, ...]:
    """Return a page table as a buffer."""
    return (np.array(keys, "<u8").tobytes(),)


def test_worked_columns(segment):
    """Rows without a token are none; bands lie by their keys."""
    index = MinHashLsh(segment)
    keys, signatures = index.all()
    assert keys.tolist() == [0, 2]
    assert signatures.shape == (2, 4)
    bands, documents = index.bands(0, 4)
    assert sorted(bands.tolist()) == bands.tolist()
    assert [int(band) >> 56 for band in bands] == [0, 0, 1, 1]
    assert index.documents_with(bands[:1]).tolist() == documents[:1].tolist()
    assert index.documents_with(bands).tolist() == [0, 1]
    assert index.documents_with(bands + np.uint64(1)).tolist() == []


def test_bands_over_many_pages(tmp_path, monkeypatch):
    """Every document is found by each of its bands, also where a key goes over pages."""
    monkeypatch.setattr(minhash_lsh, "PAGE_ROWS", 8)
    index = opened(make(TEXTS[:200], tmp_path, FEW))
    keys, documents = index.bands(0, index.num_docs * 2)
    assert index.num_pages == -(-index.num_docs * 2 // 8)
    for key in np.unique(keys):
        expected = np.unique(documents[keys == key]).tolist()
        assert index.documents_with(np.array([key])).tolist() == expected


@pytest.mark.parametrize(
    ("file", "columns", "metadata", "clause"),
    [
        ("bands", {}, {"minhash_lsh_index_version": "5"}, "L.index.minhash.version"),
        ("bands", {}, {"minhash_lsh_details": None}, "L.index.files.metadata"),
        ("bands", {}, {"minhash_lsh_details": "xy"}, "L.index.files.metadata"),
        ("bands", {}, {"minhash_lsh_details": "ff"}, "L.index.minhash.details"),
        ("signatures", {}, {"minhash_lsh_details": "0808100118012200"}, "L.index.minhash.details"),
        ("bands", {}, {"minhash_lsh_num_docs": "3"}, "L.index.minhash.docs"),
        ("bands", {}, {"minhash_lsh_page_rows": "0"}, "L.index.minhash.pages"),
        ("bands", {}, {"minhash_lsh_page_rows": "1"}, "L.index.minhash.pages"),
        ("bands", {}, {"minhash_lsh_page_table_buffer": "9"}, "L.index.files.buffer"),
        ("bands", {"doc_id": pa.array([0, 1, 2, 0], pa.uint32())}, {}, "L.index.minhash.bands"),
        ("bands", {"doc_id": pa.array([0, 1, None, 0], pa.uint32())}, {}, "L.index.minhash.bands"),
        ("bands", {"band_key": pa.array([5, 4, 6, 7], U64)}, {}, "L.index.minhash.bands"),
        ("bands", {"band_key": pa.array([1, 2, 3, 4], U64)}, {}, "L.index.minhash.pages"),
        ("signatures", {"_rowid": pa.array([None, 2], U64)}, {}, "L.index.minhash.docs"),
        ("signatures", {"_rowid": pa.array([0, 2], pa.int64())}, {}, "L.index.files.column"),
    ],
)
def test_damage_is_refused(segment, file, columns, metadata, clause):
    """When the files are opened, or what is damaged is first needed."""
    path = f"{file}.lance"
    last = MinHashLsh(segment).bands(0, 4)[0][-1]
    buffers = table(last) if file == "bands" else ()
    with pytest.raises(BytesError) as caught:
        rewritten(segment, path, columns, metadata, buffers)
        index = MinHashLsh(segment)
        index.all()
        index.documents_with(np.array([last]))
    assert caught.value.clause == clause


@pytest.mark.parametrize("buffer", [b"", b"\x00" * 7, b"\x00" * 16])
def test_a_page_table_of_other_pages_is_refused(segment, buffer):
    """One key a page, no more and no fewer."""
    rewritten(segment, "bands.lance", buffers=(buffer,))
    with pytest.raises(BytesError) as caught:
        MinHashLsh(segment)
    assert caught.value.clause == "L.index.minhash.pages"


@pytest.mark.parametrize("shift", [-1, 1], ids=["lower", "higher"])
def test_a_page_table_is_not_believed_what_lies_beyond_it(tmp_path, monkeypatch, shift):
    """Where its keys are others, no search finds less without an error."""
    monkeypatch.setattr(minhash_lsh, "PAGE_ROWS", 8)
    dataset = make(TEXTS[:40], tmp_path, FEW)
    (segment,) = dataset._snapshot.indices.segments
    keys, documents = opened(dataset).bands(0, opened(dataset).num_docs * 2)
    last = np.append(keys[7::8], keys[-1:])[: -(-len(keys) // 8)]
    wrong = np.zeros_like(last) if shift < 0 else last | np.uint64(2**63)
    rewritten(segment, "bands.lance", buffers=(wrong.tobytes(),))
    index = MinHashLsh(segment)
    for key in np.unique(keys):
        with pytest.raises(BytesError) as caught:
            index.documents_with(np.array([key]))
        assert caught.value.clause == "L.index.minhash.pages"
    partly = last.copy()
    partly[1] = last[0]
    rewritten(segment, "bands.lance", buffers=(partly.tobytes(),))
    index = MinHashLsh(segment)
    for key in np.unique(keys):
        expected = np.unique(documents[keys == key]).tolist()
        with contextlib.suppress(BytesError):
            assert index.documents_with(np.array([key])).tolist() == expected


def test_a_check_makes_bands_from_signatures(segment):
    """Others are found, though they are as good for a reader."""
    check(segment)
    bands, documents = MinHashLsh(segment).bands(0, 4)
    changed = {"doc_id": pa.array(1 - documents, pa.uint32())}
    rewritten(segment, "bands.lance", changed, buffers=table(bands[-1]))
    with pytest.raises(BytesError) as caught:
        check(segment)
    assert caught.value.clause == "L.index.minhash.band-key"


def test_only_lance_errors_escape(segment):
    """Whatever bytes of the files change."""
    source = random.Random(0)
    store = segment.bases.store_of(None)
    for path in ("bands.lance", "signatures.lance"):
        place = f"{segment.folder}/{path}"
        file = store.open(place)
        whole = bytes(file.read(0, file.size))
        for _ in range(150):
            data = bytearray(whole)
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
            store.delete(place)
            store.put(place, bytes(data))
            segment._opened.clear()
            with contextlib.suppress(LanceError):
                check(segment)
        store.delete(place)
        store.put(place, whole)
