"""Data source: tables as the Spark format `lance_reference`.

`spark.read.format("lance_reference").load(uri)` and `df.write.format("lance_reference").save(uri)`
have the options of `options`, as streams do. The version is determined when the table is loaded,
for the lifetime of the data frame.

There is no filter push-down, since that of Spark for Python sources returns wrong rows if a data
frame is used twice; the option `filter` replaces it.
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
from lanceref_spark.reading import TableReader, open_with_schema
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
        """Return the schema of the requested columns. Raises SchemaRefused, NotFound."""
        _, schema = open_with_schema(self.parsed)
        return spark_schema(schema, truncate=self.parsed.truncate)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the columns of `schema`."""
        return TableReader(self.parsed, schema.fieldNames())

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer that appends rows of `schema` to a table, or overwrites it."""
        return TableWriter(self.parsed, schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return a reader of appended rows."""
        return StreamReader(self.parsed, schema.fieldNames())

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        """Return a writer that appends every micro-batch once."""
        return StreamWriter(self.parsed, schema, overwrite)
