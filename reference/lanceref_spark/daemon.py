"""Daemon: the process from which the Python workers of an executor are forked.

Workers that replace those that died or were idle are forked from it too, so that none of them has
to import the modules that it imports.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

import lanceref_spark.source  # noqa: F401


def main() -> None:
    """Fork workers until Spark ends the daemon."""
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
