"""Session: cheap Python tasks, one thread each, nothing on the network."""

import sys

import pytest

pytestmark = pytest.mark.spark


def test_a_session_is_set_up_for_python_tasks(spark):
    """Unix domain sockets, the zone of the format, the loopback interface, no web page."""
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.python.unix.domain.socket.enabled") == "true"
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.uiWebUrl is None


def test_workers_use_this_python_and_one_thread(spark):
    """A task sees the interpreter of the driver and a limit of one thread."""
    from tests.lanceref_spark.sample_jobs import surroundings

    (found,) = spark.sparkContext.parallelize([0], 1).map(surroundings).collect()
    assert found == (sys.version, "1")
