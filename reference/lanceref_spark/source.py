"""Data source: tables as the Spark format `lance_reference`.

`spark.read.format("lance_reference").load(uri)` and `df.write.format("lance_reference").save(uri)`,
both with the options of `options`; streams too. The version is settled once, when the table is
loaded, and stays for the life of the data frame.

Spark's filter push-down for sources in Python gives wrong rows when one data frame is used twice,
so there is none: the option `filter` says what to read.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
)
from pyspark.sql.types import StructType

from lanceref_spark.options import Options, parse
from lanceref_spark.reading import TableReader, described
from lanceref_spark.streaming import StreamReader, StreamWriter
from lanceref_spark.types import spark_schema
from lanceref_spark.writing import TableWriter


class LanceDataSource(DataSource):
    """A table as a data frame."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "lance_reference"

    @cached_property
    def parsed(self) -> Options:
        """The options of this load or save."""
        return parse(self.options)

    def schema(self) -> StructType:
        """Return the columns that the options ask for. Raises SchemaRefused, NotFound."""
        _, schema = described(self.parsed)
        return spark_schema(schema, truncate=self.parsed.truncate)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads the columns of `schema`."""
        return TableReader(self.parsed, schema.fieldNames())

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return what writes rows of `schema` after a table, or as its whole content."""
        return TableWriter(self.parsed, schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return what reads the rows that later versions append."""
        return StreamReader(self.parsed, schema.fieldNames())

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        """Return what appends every micro-batch once."""
        return StreamWriter(self.parsed, schema, overwrite)
