"""HNSW levels: the fixed sequence and what follows from it."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.hnsw_graph import _splitmix, _xoshiro, entry_point, node_levels


def test_splitmix_follows_its_published_sequence() -> None:
    """From seed 1234567 come the words that the authors of the generator print."""
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423]

    assert words == list(islice(_splitmix(1234567), 3))


def test_the_state_turns_as_written() -> None:
    """The first word from seed 42 is computed by hand from the four words of the state."""
    a, _, _, d = islice(_splitmix(42), 4)
    total = (a + d) % 2**64
    rotated = (total * 2**23 + total // 2**41) % 2**64

    assert (rotated + a) % 2**64 == next(_xoshiro(42))


def test_the_first_nodes_of_level_1_and_2_are_those_of_real_files() -> None:
    """With m = 20, files hold nodes 44, 69, 76, 84, 102 on level 1 and 364 first on level 2."""
    levels = node_levels(1000, 20, 7)

    assert [44, 69, 76, 84, 102] == np.flatnonzero(levels >= 1)[:5].tolist()
    assert np.flatnonzero(levels >= 2)[0] == 364 == entry_point(levels[:1000])


def test_small_m_makes_more_levels() -> None:
    """With m = 8, 60 000 nodes fill six levels as a real file has them."""
    levels = node_levels(60_000, 8, 7)
    counts = [int((levels >= level).sum()) for level in range(7)]

    assert [60000, 7440, 933, 107, 14, 3, 0] == counts
    assert entry_point(levels) == 16934


@given(st.integers(0, 3000), st.integers(4, 64), st.integers(1, 9))
def test_levels_do_not_depend_on_later_nodes(num_nodes: int, m: int, max_level: int) -> None:
    """A shorter graph has the levels of a longer one's first nodes, all below the limit."""
    levels = node_levels(num_nodes, m, max_level)

    assert levels.tolist() == node_levels(5000, m, max_level)[:num_nodes].tolist()
    assert ((levels >= 0) & (levels < max_level)).all()


def test_no_nodes_have_no_levels() -> None:
    """An empty graph has no levels, and its entry point is 0."""
    assert len(node_levels(0, 20, 7)) == 0
    assert entry_point(node_levels(0, 20, 7)) == 0
