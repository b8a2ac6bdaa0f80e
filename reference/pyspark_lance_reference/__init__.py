"""Where Spark looks for the data source: it imports every installed module named `pyspark_*`."""

from lanceref_spark.source import LanceDataSource as DefaultSource

__all__ = ["DefaultSource"]
