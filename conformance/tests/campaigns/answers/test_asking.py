"""Random conditions."""

from __future__ import annotations

from itertools import islice

import pytest
from lance_conformance.campaigns.answers.asking import conditions
from lance_conformance.campaigns.answers.subjects import subjects


@pytest.mark.parametrize("subject", list(subjects()), ids=lambda one: one.name)
def test_no_two_are_alike(subject):
    """And the same seed gives the same ones, all on the column."""
    first, second = (
        list(
            islice(
                conditions(subject.leaf, subject.asked, subject.column, "1", denied=subject.denied),
                40,
            )
        )
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) == 40
    assert all(subject.asked in one for one in first)
    assert subject.denied or not any(one.startswith("not (") for one in first)
