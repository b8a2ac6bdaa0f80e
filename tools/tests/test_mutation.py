"""Mutation score: which mutants count, and what the share is."""

from mutation import Judged, kept, ordered, parsers, place, reachable, score
from sources import ROOT, Source

TWO = "def entered(x):\n    if x > 1:\n        return x + 1\n\n\ndef never(x):\n    return x - 1\n"


def test_parsers_are_no_writers():
    """Modules that only write are left out; those that cut bytes are there."""
    names = {source.name.removeprefix("reference/lanceref/") for source in parsers(ROOT)}

    assert {
        "file/container.py",
        "pages/miniblock.py",
        "codecs/rle.py",
        "file_0_1/column.py",
    } <= names
    assert not {"codecs/fsst_encode.py", "pages/writer.py", "file_0_1/writer.py"} & names


def test_functions_that_no_case_enters_do_not_count(tmp_path):
    """A line that no case touches counts when its function is entered."""
    path = tmp_path / "a.py"
    path.write_text(TWO)
    found = {m.text: ids for m, ids in reachable(Source(tmp_path, path), {"a.py": {2: ["c"]}})}

    assert {
        "Gt -> GtE: x > 1": ["c"],
        "1 -> 2": ["c"],
        "Add -> Sub: x + 1": [],
        "1 -> 2 (2)": [],
    } == found


def test_functions_that_write_do_not_count(tmp_path):
    """They lie beside the parsers of what they write."""
    path = tmp_path / "a.py"
    path.write_text("def encode_one(x):\n    return x + 1\n\n\ndef encoded(x):\n    return x + 1\n")
    found = reachable(Source(tmp_path, path), {"a.py": {2: ["c"], 6: ["c"]}})

    assert {"encoded"} == {mutant.function for mutant, _ in found}


def test_a_check_left_out_shows_only_where_it_refuses(tmp_path):
    """A case that never comes to the error cannot tell whether there is one."""
    path = tmp_path / "a.py"
    path.write_text("def bound(x):\n    if x:\n        raise ValueError\n    return x\n")
    lines = {"a.py": {2: ["reads", "refused"], 3: ["refused"], 4: ["reads"]}}
    (found,) = reachable(Source(tmp_path, path), lines)

    assert ("never: x", ["refused"]) == (found[0].text, found[1])


def test_what_noticed_last_is_asked_first():
    """It is likely to notice again; the others lie in an order that is always the same."""
    cases = [f"a/{number}" for number in range(9)]

    assert ["a/7", "a/2"] == ordered(cases, ["a/2", "a/7"])[:2]
    assert ["a/7", "a/2"] == ordered(cases, ["a/7", "a/7", "a/2", "a/7"])[:2]
    assert ordered(cases) == ordered(cases[::-1]) != cases


def test_searches_wait_for_cheaper_cases():
    """Of many cases, those that search an index come after the middle for the most part."""
    cases = [f"{folder}/{number}" for number in range(90) for folder in ("file", "index/any")]
    last = ordered(cases)[90:]

    assert sum(name.startswith("index/") for name in last) > 60


def test_the_score_counts_by_module_and_clause():
    """A mutant counts for its module and for every clause of its function."""
    every = [
        Judged("1", "a.py", ("L.a.b.c", "L.a.b.d"), "case", "fail"),
        Judged("2", "a.py", ("L.a.b.c",), "", ""),
    ]

    assert {"a.py": (1, 2), "L.a.b.c": (1, 2), "L.a.b.d": (1, 1)} == score(every)


def test_the_score_is_kept_for_the_gate():
    """How many were judged and noticed, the bar, and both numbers of each module."""
    every = [
        Judged("1", "a.py", ("L.a.b.c",), "case", "died"),
        Judged("2", "a.py", (), "", ""),
        Judged("3", "b.py", (), "case", "fail"),
    ]
    assert kept(every, 90.0) == {
        "judged": 3,
        "noticed": 2,
        "bar": 90.0,
        "modules": {"a.py": (1, 2), "b.py": (1, 1)},
    }


def test_a_sample_keeps_its_mutants():
    """Where a mutant lies follows from its name and the seed, whatever lies beside it."""
    names = [f"a.py:parse: {number} -> {number + 1}" for number in range(9)]
    order = sorted(names, key=lambda name: place(0, name))

    assert [one for one in order if one != names[3]] == sorted(
        names[:3] + names[4:], key=lambda name: place(0, name)
    )
    assert order != sorted(names, key=lambda name: place(1, name))
