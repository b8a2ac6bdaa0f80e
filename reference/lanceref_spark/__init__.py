"""Spark: distributed reads, writes, validation and index builds of tables.

`spark.read.format("lance_reference")` works wherever the package is installed; `register` registers
the format explicitly. Only this package imports PySpark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Register the format `lance_reference` with a session."""
    from lanceref_spark.source import LanceDataSource

    spark.dataSource.register(LanceDataSource)
