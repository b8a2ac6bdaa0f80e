"""Linters: every rule finds its breach."""

import lint_imports
import lint_layers
import lint_style
import pytest
from sources import Source, python_files

MARKED_TEST = """import pytest

@pytest.mark.oracle
def test_x():
    import lance
"""

GOOD = {
    "reference/lanceref/__init__.py": "",
    "reference/lanceref/core/errors.py": "",
    "reference/pylanceref/dataset.py": "from lanceref import errors\nimport lanceref.table\n",
    "reference/lanceref/table/__init__.py": "",
    "reference/lanceref/table/manifest.py": "from . import naming\nfrom ..errors import LanceError",
    "reference/lanceref/storage/manifests/manifest_names.py": "import lanceref.core.errors\n",
    "reference/lanceref/codecs/flat.py": "from lanceref.core.file_versions import FileVersion\n",
    "reference/lanceref_spark/source.py": "import pyspark.sql\n",
    "reference/tests/test_a.py": MARKED_TEST,
    "reference/tests/test_b.py": "pytestmark = pytest.mark.oracle\nimport lance.file\n",
    "reference/tests/inventory.py": "def make():\n    import lance\n",
    "conformance/lance_conformance/oracle.py": "import lance\n",
    "conformance/lance_conformance/run.py": "import lanceref\nimport lance_conformance.oracle\n",
    "tools/register.py": "import lanceref, lance_conformance\n",
}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("reference/pylanceref/dataset.py", "import lance_conformance", "imports the suite"),
        ("reference/tests/test_c.py", "import lance_conformance", "imports the suite"),
        ("reference/pylanceref/dataset.py", "import lance", "outside of its doors"),
        ("reference/pylanceref/dataset.py", "import pyspark", "outside of its doors"),
        ("conformance/lance_conformance/run.py", "from lance import x", "outside of its doors"),
        ("tools/register.py", "import lance.file", "outside of its doors"),
        ("conformance/lance_conformance/run.py", "import register", "imports the tool register"),
        ("reference/tests/test_c.py", "import lance", "outside of its doors"),
        ("reference/tests/test_c.py", "pytest.importorskip('lance')", "outside of its doors"),
        ("reference/tests/test_c.py", "import pyspark", "outside of its doors"),
        ("reference/tests/test_c.py", "from inventory import make", "needs the mark"),
        ("reference/tests/test_c.py", MARKED_TEST.replace("oracle", "spark"), "outside of"),
    ],
)
def test_one_wrong_import_is_found(repository, name, text, complaint):
    """Each way around a door is one finding in its file."""
    findings = lint_imports.check(repository({**GOOD, name: text}))

    assert [name] == [finding.path for finding in findings]
    assert complaint in findings[0].message


LAYERS = {
    "reference/lanceref/__init__.py": "",
    "reference/lanceref/core/errors.py": "",
    "reference/lanceref/file/footer.py": "from lanceref.core import errors\n",
    "reference/lanceref/table/manifest.py": "from ..file.footer import Footer\n",
    "reference/lanceref/inspection.py": "import lanceref.table.manifest\n",
    "reference/pylanceref/dataset.py": "from lanceref.table.manifest import Manifest\n",
    "reference/lanceref_spark/source.py": "import pylanceref.dataset\nimport pyspark\n",
    "reference/lanceref_testing/arrays.py": "import lanceref.core.errors\n",
    "conformance/lance_conformance/suite/cases.py": "from lance_conformance import oracle\n",
    "conformance/lance_conformance/oracle.py": "import pylanceref.dataset\n",
}


def test_arrows_down_pass(repository):
    """To packages and folders below, by absolute and relative names."""
    assert [] == lint_layers.check(repository(LAYERS))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("reference/lanceref/file/x.py", "import pylanceref.dataset", "lanceref imports"),
        ("reference/lanceref/file/x.py", "def f():\n    import pylanceref.dataset", "imports"),
        ("reference/pylanceref/x.py", "from lanceref_spark import source", "pylanceref imports"),
        ("reference/lanceref_testing/x.py", "import pylanceref.dataset", "lanceref_testing"),
        ("reference/lanceref/core/x.py", "from lanceref.table import manifest", "folder above"),
        ("reference/lanceref/table/x.py", "from lanceref import validate", "folder above"),
        ("conformance/lance_conformance/oracle.py", "from .suite import cases", "folder above"),
        ("conformance/lance_conformance/protocol/x.py", "from ..suite import cases", "above"),
        ("conformance/lance_conformance/new/x.py", "import lanceref", "no place in the order"),
        (
            "reference/lanceref/core/errors.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lanceref.file.footer",
            "folder above",
        ),
    ],
)
def test_an_arrow_up_is_found(repository, name, text, complaint):
    """An import of a higher package or folder is found wherever it lies."""
    findings = lint_layers.check(repository({**LAYERS, name: text}))

    assert name in [finding.path for finding in findings]
    assert complaint in findings[0].message


def test_a_circle_is_found(repository):
    """Of three modules of one folder, one import inside a function."""
    ring = {
        "reference/pylanceref/a.py": "import pylanceref.b",
        "reference/pylanceref/b.py": "import pylanceref.c",
        "reference/pylanceref/c.py": "def f():\n    from pylanceref.a import x",
    }
    (finding,) = lint_layers.check(repository({**LAYERS, **ring}))

    assert "a circle of 3 modules: pylanceref.a, pylanceref.b, pylanceref.c" == finding.message


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

STYLE = {
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
    assert [] == lint_style.check(repository(STYLE))


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
    findings = lint_style.check(repository({**STYLE, name: text}))

    assert {name} == {finding.path for finding in findings}
    assert any(complaint in finding.message for finding in findings), findings


def test_generated_and_hidden_files_are_passed_over(repository):
    """Message modules, caches and hidden folders are no sources."""
    root = repository(
        {
            "tools/a.py": "",
            "tools/x_pb2.py": "",
            "tools/.venv/b.py": "",
            "tools/__pycache__/c.py": "",
        }
    )

    assert ["tools/a.py"] == [source.name for source in python_files(root, "tools", "missing")]


def test_docstrings_and_comments_are_told_from_code(repository):
    """Docstring lines are those of module and functions; comments come with their line."""
    root = repository(
        {"tools/a.py": '"""One\n\nthree."""\n\n\ndef f():\n    """Six."""\n    # x\n'}
    )
    source = Source(root, root / "tools/a.py")

    assert {1, 2, 3, 7} == source.docstring_lines
    assert [(8, "# x")] == source.comments
