"""Style: every house rule finds its breach."""

import lint_style
import pytest

ERRORS = '''"""Errors."""


class LanceError(Exception):
    """All."""


class BytesError(LanceError):
    """Bytes."""


class Truncated(BytesError, ValueError):
    """Short."""
'''
CODE = '''"""Footer."""

FALLBACK = "L.a.fallback"


def parse(clause: str, size_bytes: int) -> bytes:
    """Parse."""
    try:
        return bytes(size_bytes)
    except (ValueError, OverflowError):
        raise Truncated(clause, place)


def other(cursor: Cursor) -> None:
    """Raise in every way that names a clause."""
    refuse(Truncated("L.a.b", place))
    refuse(Truncated("L.a.b" if cursor else FALLBACK, place))
    refuse(errors.Truncated(clause=cursor.clause))
'''
TEST = '"""Footer."""\n\n\ndef test_it_is():\n    """It is."""\n'
GOOD = {
    "reference/lanceref/core/errors.py": ERRORS,
    "reference/lanceref/file/__init__.py": "",
    "reference/lanceref/file/footer.py": CODE,
    "reference/tests/file/test_footer.py": TEST,
    "conformance/lance_conformance/run.py": '"""Run."""\n\nX = 1  # type: ignore[assignment]\n',
}
FOOTER = "reference/lanceref/file/footer.py"
PLACE = "/".join(["", "tmp", "x"])
LATER = "# TO" + "DO: later\n"


def test_good_style_passes(repository):
    """Every accepted form in one small repository."""
    assert [] == lint_style.check(repository(GOOD))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        (FOOTER, CODE + "\n" * 400, "at most 400"),
        (FOOTER, CODE + "\n\ndef f() -> None:\n" + "    x = 1\n" * 50, "f has 51 lines"),
        ("conformance/lance_conformance/utils.py", '"""x."""\n', "named after what it holds"),
        ("tools/misc/run.py", '"""x."""\n', "named after what it holds"),
        ("tools/a.py", "X = 1\n", "no module docstring"),
        ("tools/tests/test_a.py", '"""x."""\ndef test_b():\n    pass\n', "what must hold"),
        (FOOTER, CODE + LATER, "work put off"),
        (FOOTER, CODE + "x = 1  # type: ignore\n", "without its code"),
        (FOOTER, CODE.replace("(ValueError, OverflowError)", "Exception"), "everything is caught"),
        (FOOTER, CODE.replace("OverflowError", "Exception"), "everything is caught"),
        (FOOTER, CODE.replace(" (ValueError, OverflowError)", ""), "everything is caught"),
        (FOOTER, CODE + "with suppress(BaseException):\n    pass\n", "everything is caught"),
        (FOOTER, CODE.replace("-> bytes", "-> dict[str, Any]"), "the signature of parse"),
        (FOOTER, CODE.replace("clause: str", "clause: typing.Any"), "the signature of parse"),
        (FOOTER, CODE.replace('"L.a.b", place', '"a.b", place'), "without a clause id"),
        (FOOTER, CODE.replace("Truncated(clause,", "Truncated(place,"), "without a clause id"),
        (FOOTER, CODE.replace("else FALLBACK", 'else "x"'), "without a clause id"),
        (FOOTER, CODE.replace("L.a.fallback", "a.fallback"), "without a clause id"),
        (FOOTER, CODE + f'X = "{PLACE}"\n', f"path of a machine: {PLACE}"),
        ("README.md", f"See {PLACE}.\n", "path of a machine"),
    ],
)
def test_a_breach_is_found(repository, name, text, complaint):
    """Each breach is reported in its file."""
    findings = lint_style.check(repository({**GOOD, name: text}))

    assert {name} == {finding.path for finding in findings}
    assert any(complaint in finding.message for finding in findings), findings
