"""What is loaded of edits."""

import subprocess
import sys

import lanceref.operations
import pytest

LOADED = (
    "import sys, pylanceref.dataset\n"
    "print([one for one in sys.modules if 'lanceref.operations.' in one and 'cleanup' not in one])"
)


def test_who_reads_loads_no_edit():
    """A module comes with its first use, and no other name does."""
    command = [sys.executable, "-c", LOADED]
    assert b"[]\n" == subprocess.run(command, check=True, capture_output=True).stdout
    assert callable(lanceref.operations.update.remove)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lanceref.operations.nothing  # noqa: B018
