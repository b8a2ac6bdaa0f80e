"""Compute: the functions of pyarrow.compute under the same names, imported on first use."""

from __future__ import annotations

import subprocess
import sys

import pyarrow.compute
import pytest
from lanceref.core.compute import pc


def test_the_functions_are_those_of_pyarrow() -> None:
    """A name gives what pyarrow.compute has under it."""
    assert pc.add is pyarrow.compute.add
    assert pc.Expression is pyarrow.compute.Expression


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that pyarrow.compute does not have is not there either."""
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = pc.no_such_function


def test_importing_the_faces_imports_no_compute_functions() -> None:
    """A program that reads and writes does not pay for pyarrow.compute or the SQL parser."""
    program = (
        "import sys, pylanceref.dataset, pylanceref.file\n"
        "names = 'pyarrow.compute', 'datafusion', 'pandas'\n"
        "print([name for name in names if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
