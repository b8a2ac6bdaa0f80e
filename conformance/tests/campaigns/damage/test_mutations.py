"""Mutations: each kind does what it says, and a seed decides."""

from collections import Counter
from random import Random

import pytest
from lance_conformance.campaigns.damage.anatomy import Anatomy
from lance_conformance.campaigns.damage.mutations import APPENDED, Mutation, mutations
from lance_conformance.campaigns.damage.tables import make_table
from pylanceref.file import LanceFileWriter

KINDS = {
    *("truncation", "byte flip", "huge numbers", "page-buffer head", "zeroed region"),
    *("swapped buffers", "wrong magic", "wrong version", "appended bytes"),
}


@pytest.fixture(scope="module")
def anatomy(tmp_path_factory: pytest.TempPathFactory) -> Anatomy:
    """A 2.1 file of strings."""
    path = tmp_path_factory.mktemp("mutations") / "few.lance"
    table = make_table("lists", 1)
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)
    return Anatomy(path.name, path.read_bytes())


def test_every_kind_occurs(anatomy):
    """Several hundred, each with a name of its own, and each changes the file."""
    made = mutations(anatomy, Random(1))

    assert KINDS == {mutation.kind for mutation in made}
    assert len(made) == len({mutation.name for mutation in made}) > 250
    assert all(mutation.apply(anatomy.data) != anatomy.data for mutation in made)


def test_a_seed_decides(anatomy):
    """The same seed damages the same bytes, another one others."""
    assert mutations(anatomy, Random(1)) == mutations(anatomy, Random(1))
    assert mutations(anatomy, Random(1)) != mutations(anatomy, Random(2))


def test_counts_of_the_fixed_kinds(anatomy):
    """38 cuts, three magics, ten versions and one that the file has, one appendix."""
    counts = Counter(mutation.kind for mutation in mutations(anatomy, Random(1)))

    assert (38, 3, 11, 1) == tuple(
        counts[kind] for kind in ("truncation", "wrong magic", "wrong version", "appended bytes")
    )


def test_a_flip_changes_one_byte_and_the_whole_footer_is_flipped(anatomy):
    """Every byte of the last forty is hit."""
    size = len(anatomy.data)
    flips = [
        m.changed(anatomy.data) for m in mutations(anatomy, Random(1)) if m.kind == "byte flip"
    ]

    assert {1} == {len(changed) for changed in flips}
    assert set(range(size - 40, size)) <= {at for changed in flips for at in changed}


def test_cut_patch_and_append():
    """The three changes a mutation is made of."""
    assert b"ab" == Mutation("k", "d", keep=2).apply(b"abcd")
    assert b"aXYd" == Mutation("k", "d", ((1, b"XY"),)).apply(b"abcd")
    assert b"abcd" + APPENDED == Mutation("k", "d", append=APPENDED).apply(b"abcd")


def test_only_bytes_that_differ_are_changed():
    """A patch may hold what was there."""
    assert [2] == Mutation("k", "d", ((1, b"bX"),)).changed(b"abcd")
