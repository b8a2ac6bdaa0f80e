"""Spark: tables read, written, checked and indexed by many machines.

`spark.read.format("lance_reference")` works wherever the package is installed; `register` is for
those who want to say so. Only this package imports PySpark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Make the format `lance_reference` known to a session."""
    from lanceref_spark.source import LanceDataSource

    spark.dataSource.register(LanceDataSource)
