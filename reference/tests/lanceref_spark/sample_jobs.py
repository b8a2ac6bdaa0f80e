"""Jobs that tests of executors run: functions of a module, which other processes can import."""

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
    """Tell the Python version and the number of threads that libraries may use."""
    return sys.version, os.environ["OMP_NUM_THREADS"]


def ancestor(job):
    """Tell the module that the process began with, and whether it has the data source."""
    return sys.modules["__main__"].__spec__.name, "lanceref_spark.source" in sys.modules


def checked_where(job, shared):
    """Check a unit of a table; tell the number of the task and its process."""
    from lanceref_spark.validation import run
    from pyspark import TaskContext

    return run(job, shared), TaskContext.get().partitionId(), os.getpid()
