"""What is loaded of edits."""

import subprocess
import sys

import lanceref.operations
import pytest

LOADED = (
    "import sys, pylanceref.dataset\n"
    "print(sum('lanceref.operations.' in one for one in sys.modules))"
)


def test_who_reads_loads_no_edit():
    """A module comes with its first use, and no other name does."""
    command = [sys.executable, "-c", LOADED]
    assert b"0\n" == subprocess.run(command, check=True, capture_output=True).stdout
    assert callable(lanceref.operations.delete.remove)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lanceref.operations.nothing  # noqa: B018
