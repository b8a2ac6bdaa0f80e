"""Mutation: which changes there are, how they are put in place and noticed, and the score."""

import ast
from functools import cache

import pytest
from equivalents import excuse, load
from mutant_child import OTHER_CLAUSE, UNFINISHED, Judge, Verdict, killer
from mutant_order import nearest, ordered, touching
from mutant_tests import ALONE, Suite, lines_of_tests
from mutants import Mutant, mutants, mutated
from mutation import parsers, reachable
from sources import ROOT, Source

PARSER = '''
"""A parser."""

LIMIT = 7


def parse(data: bytes, at: int = 3) -> int:
    """Read 2 bytes."""
    if at + 2 > len(data):
        raise ValueError(f"{at + 2} bytes wanted, {len(data)} there")
    check_end(data)
    place = self.ctx.at(at - 1, 4)
    self.ctx.leaf(at, at + 5, "size", "u16")
    self.ctx.lint("L.a.b.c", place, found=at + 6, wanted=at + 7)
    if self.ctx.spans is not None and at > 8:
        own(at - 8)
    size = int.from_bytes(data[at : at + 2], "little") & 0xFFF
    return min(size << 1, 9) if not data or "<u2" else 0
'''

CHANGES = [
    *("never: at + 2 > len(data)", "Gt -> GtE: at + 2 > len(data)", "Add -> Sub: at + 2"),
    *("2 -> 3", "left out: check_end()"),
    "BitAnd -> BitOr: int.from_bytes(data[at:at + 2], 'little') & 4095",
    *("Add -> Sub: at + 2 (2)", "2 -> 3 (2)", "little -> big", "4095 -> 4096"),
    *("Or -> And: not data or '<u2'", "not left out: data", "<u2 -> >u2", "min -> max"),
    *("LShift -> RShift: size << 1", "1 -> 2", "9 -> 10", "0 -> 1"),
]


@pytest.fixture
def source(tmp_path):
    """The parser as a file."""
    path = tmp_path / "parser.py"
    path.write_text(PARSER)
    return Source(tmp_path, path)


def test_changes_of_a_parser(source):
    """Bounds, checks, ends, masks, shifts, numbers; not what only errors or `explain` say."""
    found = mutants(source)

    assert sorted(CHANGES) == sorted(mutant.text for mutant in found)
    assert len(found) == len({mutant.id for mutant in found})
    assert {"parser.py:parse: 9 -> 10"} <= {mutant.id for mutant in found}


def test_a_mutant_is_one_change(source):
    """Every mutant compiles, and no two of them are the same text or the original."""
    texts = {ast.unparse(mutated(source, mutant.number)) for mutant in mutants(source)}

    assert len(CHANGES) == len(texts)
    assert ast.unparse(source.tree) not in texts


def test_what_a_change_does(source):
    """The one whose name says that the check is gone has no check."""
    (mutant,) = (one for one in mutants(source) if one.text.startswith("never"))

    assert "if False:\n        raise" in ast.unparse(mutated(source, mutant.number))
    assert (10, 10) == (mutant.line, mutant.end_line)
    with pytest.raises(IndexError):
        mutated(source, 99)


TWO = "def entered(x):\n    if x > 1:\n        return x + 1\n\n\ndef never(x):\n    return x - 1\n"


def test_parsers_are_no_writers():
    """Modules that only write are left out; those that cut bytes are there."""
    names = {source.name.removeprefix("reference/lanceref/") for source in parsers(ROOT)}

    assert {
        "file/container.py",
        "pages/miniblock.py",
        "codecs/sequence.py",
        "file_0_1/column.py",
    } <= names
    assert not {"pages/writer.py", "file_0_1/writer.py"} & names


def test_functions_that_no_case_enters_do_not_count(tmp_path):
    """A line that no case touches counts when its function is entered."""
    path = tmp_path / "a.py"
    path.write_text(TWO)
    lines = {"a.py": {2: ["c"]}}
    found = {m.text: touching(m, lines) for m in reachable(Source(tmp_path, path), lines)}

    assert {
        "Gt -> GtE: x > 1": ["c"],
        "1 -> 2": ["c"],
        "Add -> Sub: x + 1": [],
        "1 -> 2 (2)": [],
    } == found


def test_what_noticed_last_is_asked_first():
    """It is likely to notice again; the others lie in an order that is always the same."""
    cases = [f"a/{number}" for number in range(9)]

    assert ["a/7", "a/2"] == ordered(cases, ["a/2", "a/7"])[:2]
    assert ["a/7", "a/2"] == ordered(cases, ["a/7", "a/7", "a/2", "a/7"])[:2]
    assert ordered(cases) == ordered(cases[::-1]) != cases
    assert ["a/7", "a/5"] == ordered(cases, ["a/7"], {"a/5": 9, "a/7": 8})[:2]


CASES = ["file/2.1/container/neg-length", "file/2.1/miniblock/int32", "txn/any/rows/two-appends"]
FOOTER = Source(ROOT, ROOT / "reference/lanceref/file/container.py")
MAGIC_CHECK = "magic.hex(), MAGIC.hex()"
"""What the check of the magic compares."""


def changed(old: str, new: str) -> ast.Module:
    """The module of the footer with one text replaced."""
    assert old in FOOTER.text
    return ast.parse(FOOTER.text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [('"""', '"""Another docstring. ', False), ('MAGIC = b"LANC"', 'MAGIC = b"LAND"', True)],
)
def test_a_change_is_noticed_or_not(old, new, noticed):
    """Other words live; another magic refuses every file."""
    verdict = killer(ROOT, FOOTER.module, changed(old, new), CASES)

    assert noticed == bool(verdict.case)


def test_what_never_ends_is_noticed(monkeypatch):
    """A case has its share of processor time."""
    monkeypatch.setattr("mutant_child.CASE_SECONDS", 0.5)
    tree = changed(MAGIC_CHECK, "[... for _ in iter(int, 1)], MAGIC")
    verdict = killer(ROOT, FOOTER.module, tree, CASES)

    assert (CASES[0], "died") == (verdict.case, verdict.how)


@pytest.fixture(scope="module")
def judge():
    """A judge of this repository, with the cases of one topic."""
    return Judge(ROOT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""', '"""Another docstring. '),
        ('MAGIC = b"LANC"', 'MAGIC = b"LAND"'),
        (MAGIC_CHECK, "'', MAGIC.hex()"),
        (MAGIC_CHECK, "'', ''"),
    ],
)
def test_a_judge_says_what_a_process_of_its_own_says(judge, old, new):
    """It makes no difference whether the code is put in place or imported."""
    tree = changed(old, new)

    assert killer(ROOT, FOOTER.module, tree, CASES) == judge.killer(FOOTER, tree, CASES)


def test_a_refusal_names_its_clause(judge):
    """Bytes that are refused for another reason than the case names are noticed as that."""
    case = "file/2.1/container/neg-magic"
    tree = changed('"L.file.footer.magic")', '"L.file.footer.other")')

    assert Verdict(case, OTHER_CLAUSE) == judge.killer(FOOTER, tree, [case])
    assert Verdict("", UNFINISHED) == judge.killer(FOOTER, FOOTER.tree, [case], -1)


TESTS_OF_FOOTER = [
    f"reference/tests/file/test_container.py::{name}"
    for name in (
        "test_the_worked_file_reads_as_its_rows",
        "test_a_file_that_cannot_be_opened_has_one_finding",
    )
]


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ('"""', '"""Another docstring. ', ""),
        ('MAGIC = b"LANC"', 'MAGIC = b"LAND"', "failed"),
        (MAGIC_CHECK, "'', ''", "failed"),
        (MAGIC_CHECK, "[... for _ in iter(int, 1)], MAGIC", "died"),
    ],
)
def test_tests_notice_as_cases_do(judge, monkeypatch, old, new, how):
    """The first that fails is named, whether the code is put in place or imported."""
    monkeypatch.setattr("mutant_tests.TEST_SECONDS", 1)
    verdict = Suite(ROOT, judge).killer(FOOTER, changed(old, new), TESTS_OF_FOOTER, 60)

    assert how == verdict.how
    assert (verdict.case in TESTS_OF_FOOTER) == bool(how)


def test_tests_lie_in_the_order_of_what_is_near():
    """What noticed before, then files named like the module, then those that run through most."""
    ids = ["t/a/x.py::1", "t/b/y.py::1", "t/b/z.py::1", "t/b/z.py::2", "t/file/x.py::1"]
    named = [*ids, "t/file/test_container.py::1"]

    assert ["t/file/x.py::1", "t/b/z.py::1"] == nearest(ids, FOOTER.name)[:2]
    assert ["t/a/x.py::1", "t/file/x.py::1"] == nearest(ids, FOOTER.name, ["t/a/x.py::1"])[:2]
    assert ["t/file/test_container.py::1", "t/file/x.py::1"] == nearest(named, FOOTER.name)[:2]


def test_the_tests_of_a_line():
    """Tests are traced as cases are: those that read the worked file run through its check."""
    lines, left_out = lines_of_tests(ROOT, "reference/tests/file/test_container.py", ALONE)
    (at,) = (n for n, text in enumerate(FOOTER.text.splitlines(), 1) if MAGIC_CHECK in text)

    assert set(TESTS_OF_FOOTER) <= set(lines[FOOTER.name][at])
    assert not left_out


EXCUSED = "def cut(x):\n    y = x + 1\n    return y * 2\n\n\ndef rest(x):\n    return x + 1\n"


def test_a_name_is_that_of_a_mutant_or_of_a_function(tmp_path):
    """What has another name has no excuse."""
    path = tmp_path / "a.py"
    path.write_text(EXCUSED)
    every = mutants(Source(tmp_path, path))

    assert ["a.py:rest: 1 -> 2"] == [m.id for m in every if excuse({"a.py:rest: 1 -> 2": "w"}, m)]
    assert {"cut"} == {m.function for m in every if excuse({"a.py:cut": "w"}, m)}
    assert 4 == sum(excuse({"a.py:cut": "w"}, m) == "w" for m in every)


def test_what_no_case_can_tell_is_put_to_tests(tmp_path):
    """An entry with `tests = true` excuses a mutant before cases alone."""
    (tmp_path / "tools").mkdir()
    entries = ['reason = "a"\nids = ["x"]', 'reason = "b"\ntests = true\nids = ["y"]']
    document = "".join(f"[[equivalent]]\n{one}\n" for one in entries)
    (tmp_path / "tools" / "equivalent_mutants.toml").write_text(document)

    assert {"x": "a", "y": "b"} == load(tmp_path)
    assert {"x": "a"} == load(tmp_path, tests=True)


def test_every_name_is_of_something_and_has_a_reason():
    """A name whose code has changed has to go; each has a reason in a sentence."""

    @cache
    def found(path: str) -> list[Mutant]:
        return mutants(Source(ROOT, ROOT / path))

    reasons = load(ROOT)
    for name, reason in reasons.items():
        assert any(excuse({name: reason}, one) for one in found(name.partition(":")[0])), name
        assert reason.endswith("."), name
