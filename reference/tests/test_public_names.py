"""Public names of the packages, and what importing them loads."""

import importlib
import subprocess
import sys

import lanceref
import pyarrow as pa
import pyarrow.compute
import pylanceref
import pytest
from lanceref import LanceError
from lanceref.core.compute import pc


@pytest.mark.parametrize(
    ("package", "name"),
    [(package, n) for package in (lanceref, pylanceref) for n in package.__all__],
)
def test_every_public_name_is_there(package, name):
    """Every public name of the format and of the faces is loaded on its first use."""
    assert name == getattr(package, name).__name__.rpartition(".")[2]


def test_other_names_are_not():
    """A name that the package does not have raises AttributeError."""
    with pytest.raises(AttributeError, match="nothing"):
        _ = pylanceref.nothing


def _python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize(
    "code",
    [
        "import {0}; f = {0}.{1}",
        "from {0} import {1} as f",
        "import {0}.{1}; f = {0}.{1}",
        "import {0}; from {0}.{1} import {1}; f = {0}.{1}",
        "from {0}.{1} import {1} as f",
    ],
)
def test_module_and_function_share_a_name(code):
    """Whatever is imported first, the name of the package is the function."""
    code = code.format("pylanceref", "dataset")
    printed = _python(f"import sys; {code}; print(f is sys.modules['pylanceref.dataset'].dataset)")

    assert "True" == printed


WITHOUT_OTHERS = """
import sys
from importlib.machinery import PathFinder

class Only:
    @staticmethod
    def find_spec(name, path=None, target=None):
        top = name.partition(".")[0]
        known = top in {"numpy", "pyarrow", "google", "lanceref"}
        if known or top.startswith("_") or top in sys.stdlib_module_names:
            return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [*sys.meta_path[:2], Only]
import lanceref, pyarrow as pa

folder = sys.argv[1]
rows = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"], "l": [[1], [], None]})
assert 0 < lanceref.write_file(f"{folder}/f.lance", rows)
assert rows == lanceref.open_file(f"{folder}/f.lance").read()
assert rows.select(["s"]) == lanceref.open_file(f"{folder}/f.lance", ["s"]).read()
assert lanceref.explain(f"{folder}/f.lance").unowned == []

table = lanceref.write_table(f"{folder}/t", rows)
assert (1, 3, rows) == (table.version, table.count_rows(), table.to_table())
table = lanceref.write_table(f"{folder}/t", rows.select(["l", "a"]), "append")
assert (2, 6) == (table.version, table.count_rows())
assert ["x", None, "z", None, None, None] == table.to_table(["s"])["s"].to_pylist()
assert [0, 1, 2, 1 << 32] == table.to_table(["_rowid"])["_rowid"].to_pylist()[:4]
table = lanceref.write_table(f"{folder}/t", rows.select(["a"]), "overwrite", version="2.1")
assert rows.select(["a"]) == lanceref.open_table(f"{folder}/t").to_table()
assert 3 == lanceref.open_table(f"{folder}/t", 1).count_rows()
assert [] == lanceref.validate(f"{folder}/t", deep=True)
"""
"""A program where no other library is installed."""


def test_files_and_tables_need_three_libraries(tmp_path):
    """NumPy, Arrow and protobuf: to write, commit, read, validate and explain."""
    subprocess.run([sys.executable, "-c", WITHOUT_OTHERS, tmp_path], check=True)


def test_a_table_is_created_once_and_appended_to_where_it_is(tmp_path):
    """An append makes no table, and a create replaces none."""
    rows = pa.table({"a": [1]})
    with pytest.raises(LanceError):
        lanceref.write_table(tmp_path / "t", rows, "append")
    lanceref.write_table(tmp_path / "t", rows)
    with pytest.raises(LanceError, match="exists"):
        lanceref.write_table(tmp_path / "t", rows)
    assert 2 == lanceref.write_table(tmp_path / "t", rows, "append").count_rows()
    with pytest.raises(LanceError, match="by write_table only"):
        lanceref.write_file(tmp_path / "f.lance", rows, "0.1")


@pytest.mark.parametrize(
    ("imported", "others"),
    [
        ("lanceref, pylanceref", {"pyarrow", "numpy", "google.protobuf"}),
        (
            "pylanceref.dataset, pylanceref.file",
            {"datafusion", "pandas", "pyarrow.compute", "pyarrow.dataset"},
        ),
    ],
)
def test_what_is_slow_to_import_comes_with_what_needs_it(imported, others):
    """Arrow with the first piece, the SQL parser with the first filter, pandas never."""
    assert "set()" == _python(f"import {imported}, sys; print({others} & set(sys.modules))")


NAMES = (
    "AutoCleanupConfig ColumnOrdering DatasetBasePath Index IndexFile LanceOperation Transaction"
)
"""Names of other modules that `pylanceref.dataset` has too."""


@pytest.mark.parametrize("name", NAMES.split())
def test_names_that_stand_in_other_modules_are_found_here(name):
    """Names of other modules are found in `pylanceref.dataset`, as in pylance."""
    module = importlib.import_module("pylanceref.dataset")
    assert callable(getattr(module, name))


def test_completion_lists_the_public_names_only():
    """`dir` has every public name, loaded or not, and no name that the package imports."""
    assert {n for n in dir(pylanceref) if not n.startswith("_")} == set(pylanceref.__all__)


def test_functions_are_loaded_late():
    """The functions are those of pyarrow; an unknown name is an AttributeError."""
    assert pc.add is pyarrow.compute.add
    assert pc.Expression is pyarrow.compute.Expression
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = pc.no_such_function
