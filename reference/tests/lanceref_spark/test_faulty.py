"""Faults: whatever becomes of the tasks of a job, it is one version or none."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

pytestmark = pytest.mark.spark

SCHEDULES = int(os.environ.get("LANCEREF_FAULT_SCHEDULES", "4"))
"""How many schedules of faults are tried."""

FAULTS = ("ok", "before", "after", "kill before", "kill after")


@pytest.fixture(scope="module")
def faulty(spark):
    """The session, which knows the source that fails."""
    from lanceref_spark.faulty import FaultySource

    spark.dataSource.register(FaultySource)
    return spark


def save(frame, uri, source="lance_reference", **options):
    frame.write.format(source).mode("append").options(**options).save(str(uri))
    return pylanceref.dataset(str(uri))


def numbers(spark, stop):
    return spark.range(0, stop, 1, 4)


def files_of(uri):
    return {path.name for path in Path(uri, "data").iterdir()}


def named_files(dataset):
    fragments = (one for n in dataset.versions() for one in _fragments(dataset, n["version"]))
    return {file.path for fragment in fragments for file in fragment.data_files()}


def _fragments(dataset, version):
    return pylanceref.dataset(dataset.uri, version=version).get_fragments()


schedules = some.fixed_dictionaries(
    {}, optional={str(n): some.lists(some.sampled_from(FAULTS), min_size=1, max_size=2)
                  for n in range(4)}
)  # fmt: skip


def _attempts(faults):
    """The faults that happen: attempts end with the first that is well."""
    return faults[: faults.index("ok")] if "ok" in faults else faults


@given(schedule=schedules)
@settings(max_examples=SCHEDULES)
def test_faults_leave_exactly_the_rows_and_known_orphans(faulty, tmp_path_factory, schedule):
    """After any faults that Spark survives: every row once, one new version, and as orphans the
    files of attempts that failed after they had written."""
    uri = str(tmp_path_factory.mktemp("faulty") / "t")
    pylanceref.write_dataset(pa.table({"id": range(7)}), uri)
    made = save(numbers(faulty, 100), uri, source="faulty", schedule=json.dumps(schedule))
    assert made.version == 2
    assert sorted(made.to_table()["id"].to_pylist()) == sorted([*range(7), *range(100)])
    late = sum(f.endswith("after") for faults in schedule.values() for f in _attempts(faults))
    assert len(files_of(uri) - named_files(made)) == late


def test_a_job_that_fails_changes_nothing(faulty, tmp_path):
    """A task that always fails ends the job; there is no new version, and no file is removed."""
    made = pylanceref.write_dataset(pa.table({"id": range(7)}), str(tmp_path / "t"))
    schedule = json.dumps({"2": ["after"] * 3})
    with pytest.raises(Exception, match="fault: after"):
        save(numbers(faulty, 100), tmp_path / "t", source="faulty", schedule=schedule)
    after = pylanceref.dataset(made.uri)
    assert (after.version, after.count_rows()) == (1, 7)
    assert len(files_of(made.uri) - named_files(after)) >= 3


def test_attempts_tell_what_they_wrote(faulty, tmp_path):
    """The journal has every attempt, and the files of those that wrote: the orphan is one."""
    uri, journal = tmp_path / "t", tmp_path / "journal"
    journal.mkdir()
    schedule = json.dumps({"1": ["before"], "3": ["kill after"]})
    made = save(numbers(faulty, 8), uri, "faulty", schedule=schedule, journal=str(journal))
    assert len(list(journal.glob("*.began"))) == 6
    wrote = [name for path in journal.glob("*.wrote") for name in json.loads(path.read_text())]
    assert len(wrote) == 5
    assert set(wrote) == files_of(uri)
    assert len(set(wrote) - named_files(made)) == 1
