"""Session: a Spark session with suitable settings.

Python workers communicate with the JVM by Unix domain sockets, which makes tasks several times
cheaper, are forked from a process that has imported this package, and use one thread each, so that
one runs per slot.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LANCE_CPU_THREADS", "RAYON_NUM_THREADS")
"""Environment variables that restrict libraries to one thread."""

_CONF = {
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.daemon.module": "lanceref_spark.daemon",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
}


def make_session(master: str = "local[*]", **conf: str) -> SparkSession:
    """Start a session, or return the existing one; keys of `conf` have underscores for dots.

    A local master uses the loopback interface alone.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = dict(_CONF)
    for name in THREADS:
        os.environ.setdefault(name, "1")
        settings[f"spark.executorEnv.{name}"] = "1"
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        scratch = tempfile.mkdtemp(prefix="lanceref-spark-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        settings["spark.local.dir"] = scratch
        settings["spark.sql.warehouse.dir"] = str(Path(scratch, "warehouse"))
    settings |= {name.replace("_", "."): value for name, value in conf.items()}
    builder = SparkSession.builder.master(master).appName("lanceref")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
