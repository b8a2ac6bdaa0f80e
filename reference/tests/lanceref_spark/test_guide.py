"""The guide: its examples run, in their order, and it works on an object store."""

import re
from pathlib import Path

import pylanceref
import pytest

pytestmark = pytest.mark.spark
GUIDE = Path(__file__).parents[2] / "lanceref_spark/README.md"


def test_the_examples_of_the_guide_run(spark, tmp_path):
    """Every example runs, and the copy by the stream has every row."""
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(examples) >= 6
    names = {"folder": str(tmp_path)}
    for example in examples:
        exec(example, names)
    assert pylanceref.dataset(f"{tmp_path}/copy.lance").count_rows() == 10_000
    table = pylanceref.dataset(f"{tmp_path}/events.lance")
    assert table.count_rows("twice = id * 2") == 10_000


def test_tables_on_an_object_store(spark, server):
    """Written, appended to and read with a filter, over the S3 protocol."""
    uri = server.uri()
    options = {f"storage.{key}": value for key, value in server.options.items()}
    options["storage.aws_secret_access_key"] = "env:LANCEREF_TEST_SECRET"
    frame = spark.range(0, 1000, 1, 3)
    for _ in range(2):
        frame.write.format("lance_reference").mode("append").options(**options).save(uri)
    loaded = spark.read.format("lance_reference").options(filter="id < 5", **options).load(uri)
    assert sorted(row.id for row in loaded.collect()) == sorted([*range(5)] * 2)
    assert pylanceref.dataset(uri, storage_options=server.options).version == 2
