"""Public names of the package."""

import importlib
import subprocess
import sys

import pylanceref
import pytest


@pytest.mark.parametrize("name", pylanceref.__all__)
def test_every_public_name_is_there(name):
    """Loaded on first use."""
    assert name == getattr(pylanceref, name).__name__


def test_other_names_are_not():
    """As for any module."""
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
    names = [("lanceref", "validate"), ("lanceref", "explain"), ("pylanceref", "dataset")]
    lines = ["import sys"]
    for package, name in names:
        lines += [code.format(package, name)]
        lines += [f"print(f is sys.modules['{package}.{name}'].{name})"]

    assert ["True"] * len(names) == _python("\n".join(lines)).split()


def test_importing_the_package_loads_no_library():
    """Arrow and NumPy come with the first piece that needs them."""
    assert "set()" == _python(
        "import lanceref, pylanceref, sys; "
        "print({'pyarrow', 'numpy', 'google.protobuf'} & set(sys.modules))"
    )


def test_a_dataset_does_without_what_is_slow_to_import():
    """The SQL parser comes with the first filter; pyarrow.dataset would bring pandas along."""
    told = _python(
        "import pylanceref.dataset, pylanceref.file, sys; "
        "print({'datafusion', 'pandas', 'pyarrow.dataset'} & set(sys.modules))"
    )

    assert "set()" == told.strip()


NAMES = ["AlterColumn", "Branch", "BulkCommitResult", "DataStatistics", "DatasetStats"]
NAMES += ["DeleteResult", "ExecuteResult", "FieldStatistics", "MergeInsertBuilder", "Tag"]
NAMES += ["UpdateResult", "serialize_row_addrs", "write_dataset"]
NAMES += ["BatchUDF", "Bitmap", "BlobFile", "CleanupStats", "Compaction", "CompactionMetrics"]
NAMES += ["DataFile", "DocumentGranularity", "FragmentMetadata", "FullTextQuery", "IndexConfig"]
NAMES += ["LanceFragment", "LanceSchema", "MinHashQuery", "batch_udf", "IndexInformation"]
NAMES += ["SupportedDistributedIndices", "Version"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_stand_in_other_modules_are_found_here(name):
    """As in pylance."""
    module = importlib.import_module("pylanceref.dataset")
    assert callable(getattr(module, name))


@pytest.mark.parametrize("module", ["", ".dataset", ".fragment", ".file", ".indices", ".arrow"])
def test_completion_lists_the_public_names_only(module):
    """`dir` has every public name, loaded or not, and no name that the module imports."""
    loaded = importlib.import_module(f"pylanceref{module}")

    assert {n for n in dir(loaded) if not n.startswith("_")} == {
        n for n in loaded.__all__ if not n.startswith("_")
    }
