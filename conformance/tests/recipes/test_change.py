"""Changes: by name, one at a time, and never none."""

from pathlib import Path

import pytest
from lance_conformance.recipes.change import RecipeError, apply, find, trim
from lance_conformance.recipes.model import DATA, MessageEdit, Remove, Rename, Resize, SpanPatch
from lanceref.core.errors import BadMagic
from lanceref.explain import explain_source
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

FIXTURES = Path(__file__).parents[3] / "fixtures"
PARENT = {DATA: (FIXTURES / "file/2.1/miniblock/int32/data.lance").read_bytes()}
DATASET = {"a/1.manifest": b"one", "a/2.manifest": b"two", "b/x.bin": b"three"}


def test_a_leaf_is_changed_by_its_name_and_nothing_else():
    """The footer's magic becomes LANX; the patch says where, from what to what."""
    files, patch = apply(SpanPatch(("footer", "magic"), b"LANX"), PARENT)
    old, new = PARENT[DATA], files[DATA]

    assert old[:-4] + b"LANX" == new
    assert (len(old) - 4, b"LANC", b"LANX") == (patch.at, patch.was, patch.now)
    assert ("footer.magic", False) == (patch.field, patch.reflow)
    with pytest.raises(BadMagic):
        LanceFileReader(DATA, source=BytesSource(new, DATA))


def test_an_integer_fills_the_leaf_little_endian():
    """num_columns is a u32."""
    files, patch = apply(SpanPatch(("footer", "num_columns"), 258), PARENT)

    assert b"\x02\x01\x00\x00" == patch.now
    assert len(PARENT[DATA]) == len(files[DATA])


def test_bytes_may_start_inside_the_leaf_and_a_function_sees_the_old_ones():
    """`at` counts from the leaf's start."""
    _, inside = apply(SpanPatch(("footer", "magic"), b"Z", at=1), PARENT)
    _, made = apply(SpanPatch(("footer", "magic"), lambda old: old[::-1]), PARENT)

    assert (b"LZNC", b"CNAL") == (inside.now, made.now)


def test_the_nth_of_several_leaves_is_changed():
    """Two columns of a GBO entry lie one after the other."""
    root = explain_source(BytesSource(PARENT[DATA], DATA)).root
    position, size = find(root, ("GBO", "*"))

    assert size.start == apply(SpanPatch(("GBO", "*"), 7, nth=1), PARENT)[1].at
    assert position.start == apply(SpanPatch(("GBO", "*"), 7), PARENT)[1].at


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (SpanPatch(("footer", "no such word"), 1), "is not in"),
        (SpanPatch(("footer", "magic"), 1, nth=1), "is not in"),
        (SpanPatch(("footer", "magic"), lambda old: old + b"X"), "has 4 bytes, not 5"),
        (SpanPatch(("footer", "magic"), b"LANC"), "changes nothing"),
        (SpanPatch(("footer", "num_columns"), 1), "changes nothing"),
        (MessageEdit("descriptor", lambda _message: None), "changes nothing"),
        (Resize(), "changes nothing"),
        (Remove("other.lance"), "names 0 files"),
    ],
)
def test_a_recipe_that_misses_or_changes_nothing_is_an_error(change, complaint):
    """No negative case can be its own parent."""
    with pytest.raises(RecipeError, match=complaint):
        apply(change, PARENT)


def test_a_glob_names_exactly_one_file():
    """Two matches are as wrong as none."""
    with pytest.raises(RecipeError, match="names 2 files"):
        apply(Remove("*/*.manifest"), DATASET)

    assert DATASET.keys() - {"b/x.bin"} == apply(Remove("*.bin"), DATASET)[0].keys()


def test_a_renamed_file_keeps_its_bytes():
    """Only the name differs."""
    files, patch = apply(Rename("b/x.bin", "b/y.bin"), DATASET)

    assert b"three" == files["b/y.bin"]
    assert "b/x.bin" not in files
    assert (b"b/x.bin", b"b/y.bin") == (patch.was, patch.now)


def test_resizing_cuts_and_appends():
    """keep counts from either end; the patch holds only what differs."""
    assert PARENT[DATA][:-10] == apply(Resize(keep=-10), PARENT)[0][DATA]
    assert b"" == apply(Resize(keep=0), PARENT)[0][DATA]
    files, patch = apply(Resize(append=b"xy"), PARENT)
    assert PARENT[DATA] + b"xy" == files[DATA]
    assert (len(PARENT[DATA]), b"", b"xy") == (patch.at, patch.was, patch.now)


@pytest.mark.parametrize(
    ("was", "now", "difference"),
    [
        (b"abcd", b"abXd", (2, b"c", b"X")),
        (b"aaa", b"aa", (2, b"a", b"")),
        (b"aa", b"aaa", (2, b"", b"a")),
        (b"", b"x", (0, b"", b"x")),
        (b"abab", b"ab", (2, b"ab", b"")),
    ],
)
def test_a_difference_is_as_short_as_it_can_be(was, now, difference):
    """What both share at the start and at the end is left out."""
    assert difference == trim(was, now)
