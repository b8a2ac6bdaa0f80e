"""Layers: packages, folders, circles."""

import lint_layers
import pytest

GOOD = {
    "reference/lanceref/__init__.py": "",
    "reference/lanceref/core/errors.py": "",
    "reference/lanceref/file/footer.py": "from lanceref.core import errors\n",
    "reference/lanceref/table/manifest.py": "from ..file.footer import Footer\n",
    "reference/lanceref/validate.py": "import lanceref.table.manifest\n",
    "reference/pylanceref/dataset.py": "from lanceref.table.manifest import Manifest\n",
    "reference/lanceref_spark/source.py": "import pylanceref.dataset\nimport pyspark\n",
    "reference/lanceref_testing/arrays.py": "import lanceref.core.errors\n",
}


def test_arrows_down_pass(repository):
    """To packages and folders below, by absolute and relative names."""
    assert [] == lint_layers.check(repository(GOOD))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("reference/lanceref/file/x.py", "import pylanceref.dataset", "lanceref imports"),
        ("reference/lanceref/file/x.py", "def f():\n    import pylanceref.dataset", "imports"),
        ("reference/pylanceref/x.py", "from lanceref_spark import source", "pylanceref imports"),
        ("reference/lanceref_testing/x.py", "import pylanceref.dataset", "lanceref_testing"),
        ("reference/lanceref/core/x.py", "from lanceref.table import manifest", "folder above"),
        ("reference/lanceref/table/x.py", "from lanceref import validate", "folder above"),
        (
            "reference/lanceref/core/errors.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lanceref.file.footer",
            "folder above",
        ),
    ],
)
def test_an_arrow_up_is_found(repository, name, text, complaint):
    """Wherever the import lies."""
    findings = lint_layers.check(repository({**GOOD, name: text}))

    assert name in [finding.path for finding in findings]
    assert complaint in findings[0].message


def test_a_circle_is_found(repository):
    """Of three modules of one folder, one import inside a function."""
    ring = {
        "reference/pylanceref/a.py": "import pylanceref.b",
        "reference/pylanceref/b.py": "import pylanceref.c",
        "reference/pylanceref/c.py": "def f():\n    from pylanceref.a import x",
    }
    (finding,) = lint_layers.check(repository({**GOOD, **ring}))

    assert "a circle of 3 modules: pylanceref.a, pylanceref.b, pylanceref.c" == finding.message
