"""Cluster: a standalone master and two workers on addresses of the loopback interface.

Each worker has its own address, so that Spark takes them for two machines: executors are separate
processes that can be killed, and a speculative copy of a slow task runs on the other machine.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
from lanceref_spark.session import make_session
from pyspark.sql import SparkSession

WORKERS = ("127.0.0.2", "127.0.0.3")

TIMEOUT_SECONDS, MEMORY = 600, "900m"
"""Timeout for the start of the master and of the executors; memory of an executor."""

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVM options of short-lived processes."""


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str, log: str = "master") -> Iterator[None]:
    """Run a daemon of Spark, with its log in `folder`."""
    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_HOME": str(home),
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with (
        (folder / f"{log}.log").open("wb") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def daemons(folder: Path) -> Iterator[str]:
    """Run master and workers; yield the address of the master."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    at, page = ["--host", "127.0.0.1", "--port", str(port)], ["--webui-port", "0"]
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(_daemon(folder, "master.Master", *at, *page))
        for host in WORKERS:
            options = ["--host", host, "--cores", "1", "--memory", MEMORY, *page, master]
            stack.enter_context(_daemon(folder, "worker.Worker", *options, log=f"worker-{host}"))
        _wait_for(lambda: _listens(port), "master")
        yield master


def _wait_for(is_ready: Callable[[], bool], what: str) -> None:
    """Wait until a process is ready. Raises TimeoutError after `TIMEOUT_SECONDS`."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not is_ready():
        if time.monotonic() > end:
            raise TimeoutError(f"no {what} within {TIMEOUT_SECONDS} s")
        time.sleep(0.5)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def cluster(folder: Path, **conf: str) -> Iterator[SparkSession]:
    """Yield a session with an executor on each worker, which has the import path of this one."""
    with daemons(folder) as master:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        session = make_session(
            master,
            spark_driver_host="127.0.0.1",
            spark_driver_bindAddress="127.0.0.1",
            spark_executor_memory="512m",
            spark_executor_extraJavaOptions=QUICK_JVM,
            spark_local_dir=str(folder / "scratch"),
            spark_sql_warehouse_dir=str(folder / "warehouse"),
            spark_executorEnv_PYTHONPATH=os.pathsep.join(filter(None, sys.path)),
            **conf,
        )
        session.sparkContext.setLogLevel("ERROR")
        try:
            wait_for_executors(session, len(WORKERS))
            yield session
        finally:
            session.stop()


def wait_for_executors(session: SparkSession, count: int) -> None:
    """Wait until `count` executors beside the driver have registered. Raises TimeoutError."""
    status = session.sparkContext._jsc.sc().statusTracker()
    _wait_for(lambda: len(status.getExecutorInfos()) > count, f"{count} executors")
