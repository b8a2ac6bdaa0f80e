"""Session: how Spark is started for the work of this package.

Python workers talk to the JVM through Unix domain sockets, which makes a task several times
cheaper, are copies of a process that has imported this package, and use one thread each, so that as
many run as there are slots.
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
"""Environment variables that keep libraries from using more than one thread."""

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
    """Start a session, or return the one there is; `conf` has underscores in place of dots.

    On a master of this machine everything stays on the loopback interface.
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
