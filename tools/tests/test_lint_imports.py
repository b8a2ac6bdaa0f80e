"""Imports: the doors."""

import lint_imports
import pytest

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
    "conformance/lance_conformance/run.py": "import lanceref\nimport lance_conformance.register\n",
    "tools/register.py": "import lanceref, lance_conformance\n",
}


def test_open_doors_pass(repository):
    """Those of the oracle and of Spark, relative imports, marked tests."""
    assert [] == lint_imports.check(repository(GOOD))


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
        (
            "reference/tests/test_c.py",
            MARKED_TEST.replace("oracle", "spark"),
            "outside of its doors",
        ),
    ],
)
def test_one_wrong_import_is_found(repository, name, text, complaint):
    """Each way around a door is one finding in its file."""
    findings = lint_imports.check(repository({**GOOD, name: text}))

    assert [name] == [finding.path for finding in findings]
    assert complaint in findings[0].message
