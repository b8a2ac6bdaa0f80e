"""Tests of what releases of pylance are said to have."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from lance_conformance import oracle
from lance_conformance.adapters import releases, searching
from lance_conformance.adapters.skeleton import Message, NotClaimed


def test_claims_grow_with_releases() -> None:
    """A release claims what an earlier one did, and the oracle all."""
    shown = oracle.RELEASES[2:]
    claimed = [(releases.file_versions(one), releases.index_types(one)) for one in shown]

    assert (["2.0"], ["BTREE"]) == claimed[0]
    assert (releases.VERSIONS, searching.TYPES) == claimed[-1]
    for (versions, types), (more_versions, more_types) in pairwise(claimed):
        assert set(versions) <= set(more_versions)
        assert set(types) <= set(more_types)


def test_the_first_release_counts() -> None:
    """A piece is there in the release that brought it, and not in the one before."""
    assert releases.has("0.39.0", "2.2")
    assert not releases.has("0.33.0", "2.2")
    assert releases.has("1.0.4", "2.2")


@pytest.mark.parametrize(
    "error",
    [
        TypeError("scanner() got an unexpected keyword argument 'x'"),
        AttributeError("module 'lance.query' has no attribute 'CombinedFieldsQuery'"),
        LookupError("no class UpdateMap"),
        LookupError("LanceOperation.Update has no fields_modified"),
    ],
)
def test_a_name_that_is_missing_is_a_gap(error: Exception) -> None:
    """What the release does not have is unsupported."""

    def operation(request: Message) -> Message:
        raise error

    with pytest.raises(NotClaimed, match=re.escape(str(error))):
        releases.as_offered(operation)({})


def test_a_refusal_stays_one() -> None:
    """Other errors of the same classes are refusals of the release."""

    def operation(request: Message) -> Message:
        raise TypeError("expected bytes, not str")

    with pytest.raises(TypeError, match="expected bytes"):
        releases.as_offered(operation)({})
