"""Partition: the rows that one task of Spark reads."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition


@dataclass
class Rows(InputPartition):
    """Live rows of a fragment, from `start` on: `count` of them, all without one."""

    version: int
    fragment: int
    start: int = 0
    count: int | None = None
