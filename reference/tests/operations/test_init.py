"""What is loaded of edits."""

import subprocess
import sys

import lanceref.operations
import pytest

LOADED = (
    "import sys, lanceref.operations, lanceref.search.snapshot\n"
    "print([one for one in sys.modules if 'lanceref.operations.' in one])"
)


def test_a_reader_of_tables_loads_no_operation():
    """A module comes with its first use, and no other name does."""
    command = [sys.executable, "-c", LOADED]
    assert b"[]\n" == subprocess.run(command, check=True, capture_output=True).stdout
    assert callable(lanceref.operations.update.remove)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lanceref.operations.nothing  # noqa: B018
