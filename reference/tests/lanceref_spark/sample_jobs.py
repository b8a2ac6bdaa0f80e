"""Jobs for tests of executors, in a module that other processes can import."""

import os
import sys

from lanceref.core.errors import BadMagic, Place


def times(job, shared):
    """Multiply a number."""
    return job * shared


def refuse(job, shared):
    """Refuse a file."""
    raise BadMagic("L.file.footer.magic", Place(job, 12, 4), found=b"LANX", wanted=b"LANC")


def surroundings(job):
    """Return the Python version and the number of threads of libraries."""
    return sys.version, os.environ["OMP_NUM_THREADS"]


def ancestor(job):
    """Return the main module of the process, and whether it has imported the data source."""
    return sys.modules["__main__"].__spec__.name, "lanceref_spark.source" in sys.modules


def checked_where(job, shared):
    """Validate a unit of a table; return it with the number of the task and the process."""
    from lanceref_spark.validation import run
    from pyspark import TaskContext

    return run(job, shared), TaskContext.get().partitionId(), os.getpid()
