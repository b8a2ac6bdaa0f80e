"""Stages of a build, as they are reported."""

from __future__ import annotations

import pytest
from lanceref.index.segment import Stages


def test_a_stage_is_told_from_start_to_end():
    """How much is done grows; in all stays what it is."""
    told = []
    with Stages(lambda *event: told.append(event)).stage("read", 5, "rows") as stage:
        stage.more(2)
        stage.more(3)
    assert told == [
        ("start", "read", 0, 5, "rows"),
        ("progress", "read", 2, 5, "rows"),
        ("progress", "read", 5, 5, "rows"),
        ("complete", "read", 5, 5, "rows"),
    ]


def test_a_stage_that_fails_is_not_complete():
    """What fails is reported by its error alone."""
    told = []
    with (
        pytest.raises(ZeroDivisionError),
        Stages(lambda *event: told.append(event)).stage("read"),
    ):
        raise ZeroDivisionError
    assert [event for event, *_ in told] == ["start"]


def test_nobody_has_to_listen():
    """A stage goes on all the same."""
    with Stages().stage("read") as stage:
        stage.more()
    assert stage.done == 1
