"""Mutants: which changes there are, and that each is one."""

import ast
from pathlib import Path

import pytest
from mutants import mutants, mutated
from sources import Source

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
    "never: at + 2 > len(data)",
    "Gt -> GtE: at + 2 > len(data)",
    "Add -> Sub: at + 2",
    "2 -> 3",
    "left out: check_end()",
    "BitAnd -> BitOr: int.from_bytes(data[at:at + 2], 'little') & 4095",
    "Add -> Sub: at + 2 (2)",
    "2 -> 3 (2)",
    "little -> big",
    "4095 -> 4096",
    "Or -> And: not data or '<u2'",
    "not left out: data",
    "<u2 -> >u2",
    "min -> max",
    "LShift -> RShift: size << 1",
    "1 -> 2",
    "9 -> 10",
    "0 -> 1",
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


def test_clauses_come_from_the_function(tmp_path):
    """Each mutant knows which clauses its function speaks of."""
    path = Path(tmp_path, "a.py")
    path.write_text('def f(x):\n    if x > 1:\n        raise E("L.a.b.c", x)\n')

    assert {("L.a.b.c",)} == {mutant.clauses for mutant in mutants(Source(tmp_path, path))}


def test_an_unknown_length_is_no_number(tmp_path):
    """Any negative number in a shape says the same as -1; other numbers there do not."""
    path = tmp_path / "a.py"
    path.write_text("def f(x):\n    return x.reshape(-1, 2)[-1]\n")

    assert ["1 -> 2 (2)", "2 -> 3"] == sorted(one.text for one in mutants(Source(tmp_path, path)))
