"""What is loaded of edits."""

import subprocess
import sys

import lanceref.edit
import pytest

LOADED = "import sys, lanceref.dataset; print(sum('lanceref.edit.' in one for one in sys.modules))"


def test_who_reads_loads_no_edit():
    """A module comes with its first use, and no other name does."""
    command = [sys.executable, "-c", LOADED]
    assert b"0\n" == subprocess.run(command, check=True, capture_output=True).stdout
    assert callable(lanceref.edit.removal.remove)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lanceref.edit.nothing  # noqa: B018
