"""The fast form of what a path finds in documents gives what the plain form gives."""

import json

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import example, given
from lanceref.core.errors import LanceError
from lanceref.index.scalar.json import values_at
from lanceref.json import jsonb

NAMES = st.sampled_from(["a", "b", "ab", ""])
NUMBERS = (
    st.sampled_from([0, -1, 127, 255, -129, 2**31, -(2**63), 2**63 - 1, 2**63, -0.0, 1e300])
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(width=32)
)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text('aé\U0001f600\\"', max_size=4)
OTHERS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2)
)
TYPES = st.sampled_from([None, pa.int64(), pa.float64(), pa.utf8(), pa.bool_(), pa.int32()])


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    """Documents with values of mostly one type below `a` and `a.b`, some of them damaged."""
    kind = draw(
        st.sampled_from([st.booleans(), st.integers(-300, 300), st.floats(), NUMBERS, st.text()])
    )
    value = st.none() | kind if draw(st.integers(0, 3)) else OTHERS
    document = (
        st.fixed_dictionaries({"a": value}, optional={"b": OTHERS, "": OTHERS})
        | st.fixed_dictionaries({"a": st.fixed_dictionaries({}, optional={"b": value})})
        | st.just({})
        | OTHERS
    )
    stored = [jsonb.document(json.dumps(one)) for one in draw(st.lists(document, max_size=6))]
    if stored and not draw(st.integers(0, 2)):
        number = draw(st.integers(0, len(stored) - 1))
        octets = bytearray(stored[number])
        octets[draw(st.integers(0, len(octets) - 1))] ^= draw(st.integers(1, 255))
        stored[number] = bytes(octets[: draw(st.integers(0, 2 * len(octets)))])
    before = draw(st.integers(0, 1))
    return pa.array([*[b"before"] * before, *stored, None], pa.large_binary())[before:]


def outcome(call, *arguments: object) -> object:
    """Return the values, or the error."""
    try:
        return call(*arguments)
    except LanceError as error:
        return type(error), f"{error}"


EMPTY_NUMBER = (jsonb.SCALAR << 32 | jsonb.NUMBER << 28).to_bytes(8, "big")
"""A document whose number has no bytes, which would begin where all documents end."""


@example(pa.array([], pa.large_binary()), "a", None, 99)
@example(pa.array([EMPTY_NUMBER], pa.large_binary()), "a", None, 99)
@given(columns(), st.sampled_from(["a", "a.b", "b", "$", "a[0]"]), TYPES, st.sampled_from([1, 99]))
def test_members_are_found_alike(documents, path, type_, most_bytes):
    """Values of the same type, or the same error; of all documents together, and in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lanceref.fast.documents.MOST_BYTES", most_bytes * 100)
        plain, fast = (
            outcome(call, documents, path, type_) for call in (values_at.plain, values_at.fast)
        )

    assert plain == fast
