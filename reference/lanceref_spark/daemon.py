"""Daemon: the process that the Python workers of an executor are copied from.

A worker that died, or that Spark ended because it had nothing to do, is followed by a copy of this
process: what is imported here need not be imported by each of them.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

import lanceref_spark.source  # noqa: F401


def main() -> None:
    """Make workers until Spark says that there is no need of more."""
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
