"""Executor: tasks of Spark give what a plain loop gives."""

import os

import pytest
from lanceref.core.errors import BadMagic, Place
from lanceref_spark.executor import Tasks
from lanceref_spark.jobs import Loop

pytestmark = pytest.mark.spark


def test_tasks_give_the_results_of_a_loop(spark):
    """In the order of the jobs, with what they share."""
    from tests.lanceref_spark.sample_jobs import times

    jobs = list(range(7))
    assert list(Tasks(spark).map(times, jobs, 3)) == list(Loop().map(times, jobs, 3))
    assert list(Tasks(spark).map(times, [], 3)) == []


def test_jobs_run_in_other_processes(spark):
    """No job ran in the process of the driver."""
    from tests.lanceref_spark.sample_jobs import whereabouts

    places = list(Tasks(spark).map(whereabouts, [1, 2, 3], None))
    assert os.getpid() not in places


def test_a_refusal_comes_back_whole(spark):
    """The error of a job has its clause and place."""
    from tests.lanceref_spark.sample_jobs import refuse

    with pytest.raises(BadMagic) as caught:
        list(Tasks(spark).map(refuse, ["f.lance"], None))
    assert caught.value.clause == "L.file.footer.magic"
    assert caught.value.place == Place("f.lance", 12, 4)
