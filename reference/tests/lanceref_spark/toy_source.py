"""The smallest source that pushes filters down: 100 rows, and what is below a bound."""

from pyspark.sql.datasource import DataSource, DataSourceReader, LessThan


class Toy(DataSource):
    """Rows `k` from 0 to 99."""

    @classmethod
    def name(cls):
        return "toy"

    def schema(self):
        return "k long"

    def reader(self, schema):
        return ToyReader()


class ToyReader(DataSourceReader):
    """Takes filters `k < bound`."""

    bound = 100

    def pushFilters(self, filters):
        for one in filters:
            if isinstance(one, LessThan):
                self.bound = one.value
            else:
                yield one

    def read(self, partition):
        return ((k,) for k in range(min(self.bound, 100)))
