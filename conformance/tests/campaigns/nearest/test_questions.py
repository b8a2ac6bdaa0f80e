"""Questions."""

from __future__ import annotations

from random import Random

import numpy as np
from lance_conformance.campaigns.nearest.cases import Case
from lance_conformance.campaigns.nearest.questions import Question, question

CASE = Case("IVF_FLAT", "l2", "f32", "2.1", "plain", "oracle")

VECTORS = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)


def test_every_argument_is_asked_for():
    """The same for a seed; vectors are as wide as those of the table."""
    drawn = [question(CASE, VECTORS, Random(seed)) for seed in range(300)]
    again = [question(CASE, VECTORS, Random(seed)) for seed in range(300)]
    assert [one.told for one in again] == [one.told for one in drawn]
    names = {name for one in drawn for name in (*one.nearest, *one.scan)}
    assert {
        "column", "q", "k", "nprobes", "minimum_nprobes", "maximum_nprobes", "refine_factor", "ef",
        "use_index", "approx_mode", "metric", "filter", "prefilter", "fast_search",
    } == names  # fmt: skip
    assert {1, 2} == {one.nearest["q"].ndim for one in drawn}
    assert {3} == {one.nearest["q"].shape[-1] for one in drawn}
    assert any(one.span for one in drawn)


def test_bytes_are_asked_for_bytes():
    """And of no vectors any is."""
    bytes_ = np.full((9, 3), 250, np.uint8)
    case = Case("IVF_FLAT", "hamming", "u8", "2.1", "plain", "oracle")
    asked = np.concatenate(
        [np.atleast_2d(question(case, bytes_, Random(seed)).nearest["q"]) for seed in range(50)]
    )
    assert 241 <= asked.min() < asked.max() == 255
    assert 3 == question(CASE, VECTORS[:0], Random(1)).nearest["q"].shape[-1]


def test_a_question_is_changed():
    """What is left out is not asked for, and the vector is not told."""
    asked = Question({"q": [1.0], "k": 3, "ef": 9}, {"filter": "i < 4", "prefilter": False})
    assert ("i < 4", 3, []) == (asked.late_filter, asked.k, asked.ends)
    assert {"q": [1.0], "k": 6} == asked.but("ef", k=6).nearest
    assert {"prefilter": True, "filter": "i < 4"} == asked.scanned(prefilter=True).scan
    assert asked.scanned(prefilter=True).late_filter is None
    assert {} == asked.scanned(filter=None, prefilter=None).scan
    assert "{'k': 3, 'ef': 9, 'filter': 'i < 4', 'prefilter': False}" == asked.told


def test_a_range_is_a_share_of_what_is_far():
    """Its ends are those that are there."""
    asked = Question({"q": [1.0]}, {}, (None, 0.5)).within(8.0)
    assert (None, 4.0) == asked.nearest["distance_range"]
    assert [4.0] == asked.ends
    assert asked == asked.within(3.0)


def test_the_length_of_a_question():
    """Of the longest vector, where it makes distances large."""
    asked = Question({"q": [[1.0, 2.0], [3.0, 4.0]]}, {})
    assert 25.0 == asked.length == asked.but(metric="dot").length
    far = asked.but(q=[30.0, 40.0])
    assert (2500.0, 1250.0) == (far.length, far.but(metric="dot").length)
    assert 1.0 == asked.but(metric="cosine").length
    assert 1.0 == Question(asked.nearest, {}, None, "hamming").length
