"""Plans of questions to indices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from lanceref.index.predicate import Contains, IsNull, Within
from lanceref.search.index_plan import (
    Either,
    Every,
    Known,
    Question,
    knows_nulls,
    unite_ends,
)

ROWS = SimpleNamespace(num_rows=4)


@dataclass(frozen=True)
class Fixed:
    """A plan that knows some rows."""

    known: Known | None
    exact: bool = True

    def ask(self, rows):
        """Return what it knows."""
        return self.known


def knows(*rows: int, exact: bool = True) -> Fixed:
    """Return a plan that knows rows."""
    mask = np.zeros(4, np.bool_)
    mask[list(rows)] = True
    return Fixed(Known(mask, exact), exact)


NOTHING = Fixed(None)


def found(plan) -> tuple[list[int], bool] | None:
    """Return rows, and whether they are exact."""
    known = plan.ask(ROWS)
    return None if known is None else (np.flatnonzero(known.mask).tolist(), known.exact)


def test_and_keeps_what_both_know():
    """One that knows nothing leaves the others, inexactly."""
    assert found(Every((knows(0, 1), knows(1, 2)), True)) == ([1], True)
    assert found(Every((knows(0, 1), NOTHING), True)) == ([0, 1], False)
    assert found(Every((knows(0, 1), knows(1, exact=False)), True)) == ([1], False)
    assert found(Every((knows(0, 1),), False)) == ([0, 1], False)
    assert found(Every((NOTHING,), True)) is None


def test_or_needs_every_part():
    """One that knows nothing makes all rows possible."""
    assert found(Either((knows(0), knows(2)))) == ([0, 2], True)
    assert found(Either((knows(0), knows(2, exact=False)))) == ([0, 2], False)
    assert found(Either((knows(0), NOTHING))) is None


class Asked:
    """An index whose rows are fixed: row 1 for what is asked, row 3 is null."""

    name = "c_idx"
    kind = SimpleNamespace(shown="Fixed", json_path=None)

    def positions(self, predicate, rows):
        """Return them."""
        return np.array([3] if isinstance(predicate, IsNull) else [1])


def test_what_is_denied_leaves_nulls_out():
    """NOT is neither true for the rows found nor for those that are null."""
    assert found(Question(Asked(), Contains("x"), True)) == ([1], True)
    assert found(Question(Asked(), Contains("x"), True, True)) == ([0, 2], True)
    assert found(Question(Asked(), IsNull(), True, True)) == ([0, 1, 2], True)


def test_what_is_denied_without_knowledge_of_nulls_is_to_be_looked_at():
    """The rows that are null are among the others."""
    assert found(Question(Asked(), Contains("x"), False, True)) == ([0, 2, 3], False)
    for answer in (True, False, None):
        index = SimpleNamespace(answers=lambda predicate, answer=answer: answer)
        assert knows_nulls(index) is (answer is True)


def test_two_ends_of_a_column_are_one_range():
    """Whichever comes first; other pairs stay two questions."""
    index, ends = Asked(), (Within(low=pa.scalar(1)), Within(high=pa.scalar(3), high_closed=False))
    low, high = (Question(index, end, True, path="c") for end in ends)
    wanted = Within(pa.scalar(1), pa.scalar(3), True, False)
    for pair in ((low, high), (high, low)):
        (found_,) = unite_ends(pair)
        assert (wanted, "c") == (found_.predicate, found_.path)
    for pair in (
        (low, low),
        (low, replace(high, negated=True)),
        (low, replace(high, path="d")),
        (low, replace(high, index=Asked())),
        (low, Question(index, Contains("x"), True, path="c")),
    ):
        assert pair == unite_ends(pair)


def test_a_plan_is_shown():
    """Its question, the index, and whether it is denied."""
    question = Question(Asked(), Contains("x"), True, True, "c")
    assert str(question) == 'NOT([contains(c, Utf8("x"))]@c_idx(Fixed))'
