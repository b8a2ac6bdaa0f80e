"""Search in an FM partition."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import FormatError
from lanceref.index.fm import fm
from lanceref.index.fm.fm import all_beginnings, beginnings, endings_with, rows_with, texts_of
from lanceref.index.fm.partition import open_partition

from ..rewriting import rewritten
from .texts import make, partitions


def test_worked_example(tmp_path):
    """ana begins three endings, at 8, 3 and 1 of banana FF FF ana FF 00."""
    (partition,) = partitions(make(["banana", "", None, "ana"], tmp_path))
    first, end = endings_with(partition, b"ana")
    assert sorted(beginnings(partition, first, end).tolist()) == [1, 3, 8]
    assert [0, 3] == rows_with(partition, b"ana").tolist()
    assert [0, 1, 3] == rows_with(partition, b"").tolist()
    assert [] == rows_with(partition, b"nab").tolist() == rows_with(partition, b"x").tolist()


def test_a_text_does_not_reach_into_the_next(tmp_path):
    """Neighbours are kept apart."""
    (partition,) = partitions(make(["ab", "cd"], tmp_path))
    assert [] == rows_with(partition, b"bc").tolist()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.text("ab日", max_size=60), min_size=1, max_size=30),
    st.lists(st.text("ab日", min_size=1, max_size=3), min_size=1, max_size=8),
)
def test_what_is_found_holds_the_text(texts, parts):
    """Every text that does, and no other; steps one by one lead where all together lead."""
    with tempfile.TemporaryDirectory() as root:
        (partition,) = partitions(make(texts, Path(root)))
        for part in parts:
            expected = [number for number, text in enumerate(texts) if part in text]
            assert rows_with(partition, part.encode()).tolist() == expected
        texts_of(partition)


def test_steps_one_by_one_lead_where_all_together_lead(tmp_path, monkeypatch):
    """Whatever number of steps there may be."""
    letters = random.Random(1).choices("abcd", k=5000)
    (partition,) = partitions(make(["".join(letters)], tmp_path))
    everything = all_beginnings(partition)
    assert sorted(everything.tolist()) == list(range(partition.num_bytes))
    for first in (0, 17, 4000):
        assert beginnings(partition, first, first + 9).tolist() != []
        expected = sorted(everything[first : first + 9].tolist())
        assert sorted(beginnings(partition, first, first + 9).tolist()) == expected
        with monkeypatch.context() as patch:
            patch.setattr(fm, "MOST_STEPS", 2)
            assert sorted(beginnings(partition, first, first + 9).tolist()) == expected


def changed(root, texts, columns=None, metadata=None):
    """Return a partition with columns or metadata changed."""
    (segment,) = make(texts, root)._snapshot.indices.segments
    return open_partition(rewritten(segment, "part_0_fm.lance", columns, metadata))


def test_steps_that_lead_nowhere_are_refused(tmp_path, monkeypatch):
    """Each ending leads to itself: none but the first leads to a sample."""
    (partition,) = partitions(make(["a" * 31 + "b" * 31], tmp_path))
    monkeypatch.setattr(fm, "step", lambda partition, endings: endings)
    with pytest.raises(FormatError) as caught:
        all_beginnings(partition)
    assert caught.value.clause == "L.index.fm.samples"


def test_other_texts_have_another_fingerprint(tmp_path):
    """A check brings the texts back."""
    partition = changed(tmp_path, ["ab", "ba"], metadata={"partition_fingerprint": "0" * 16})
    with pytest.raises(FormatError) as caught:
        texts_of(partition)
    assert caught.value.clause == "L.index.fm.fingerprint"


@pytest.mark.parametrize("sample", [np.array([99], "<u8").tobytes(), b""])
def test_samples_that_are_missing_or_too_large_are_refused(tmp_path, sample):
    """They are looked at when one is needed."""
    (partition,) = partitions(make(["ab"], tmp_path / "a"))
    words = [*partition.file.read("words").to_pylist()[:-1], sample]
    columns = {"words": pa.array(words, pa.large_binary())}
    with pytest.raises(FormatError) as caught:
        rows_with(changed(tmp_path / "b", ["ab"], columns), b"a")
    assert caught.value.clause == "L.index.fm.samples"
