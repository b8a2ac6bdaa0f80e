"""Freed blocks are kept."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from lanceref.core.limits import KEPT_BYTES, keep_freed_blocks

keep_freed_blocks()
size = KEPT_BYTES // 4
np.ones(size, np.uint8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(8):
    np.ones(size, np.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, size // resource.getpagesize())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other rules")
def test_a_freed_block_is_used_again():
    """Eight arrays one after another fault for less than the pages of a single one."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True)
    faults, pages = map(int, done.stdout.split())

    assert faults < pages
