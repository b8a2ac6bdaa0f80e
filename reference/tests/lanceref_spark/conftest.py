"""One session for all tests of Spark, which are skipped without PySpark."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("pyspark") is None:
    collect_ignore_glob = ["test_*.py"]

NO_JAVA = "Spark tests need Java 17 or newer: apt-get install openjdk-17-jre-headless"


@pytest.fixture(scope="package")
def spark():
    """A session of two slots, where a task may fail twice; its workers can import these tests.

    It ends with the tests of this folder: others end all processes below their own.
    """
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get("CI"):
            pytest.fail(NO_JAVA)
        pytest.skip(NO_JAVA)
    from lanceref_spark.session import make_session

    here = str(Path(__file__).parents[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(here)
        patch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, sys.path)]))
        patch.setenv("LANCEREF_TEST_SECRET", "secret")  # of the object server, for every process
        session = make_session(
            "local[2,3]", spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
