"""SQLite and DynamoDB manifest stores: the same answers from both."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from lanceref.core.errors import FormatError, StoreFailed
from lanceref.storage.manifests.dynamodb import DynamoManifests
from lanceref.storage.manifests.manifest_names import Record, name_of, staged_record
from lanceref.storage.manifests.opening import SqliteManifests

from tests.object_server import TABLE


@pytest.fixture(params=["sqlite", "dynamodb"])
def manifests(request, tmp_path):
    """An empty store."""
    if request.param == "sqlite":
        return SqliteManifests(str(tmp_path / "deep" / "manifests.db"))
    return DynamoManifests(TABLE, request.getfixturevalue("server").options)


@pytest.fixture
def key() -> str:
    """A key that no other test has."""
    return f"tables/{uuid4().hex}"


def test_a_record_is_put_once(manifests, key):
    """The second put changes nothing and says so; it is there for who asks."""
    first = staged_record(name_of(1, "V2"), 7)

    assert manifests.get(key, 1) is None
    assert manifests.latest(key) is None
    assert manifests.put_if_absent(key, first)
    assert not manifests.put_if_absent(key, staged_record(name_of(1, "V2"), 7))
    assert first == manifests.get(key, 1) == manifests.latest(key)


def test_a_record_is_replaced_only_where_there_is_one(manifests, key):
    """The new path and size are kept."""
    staged = staged_record(name_of(1, "V2"), 7)

    assert not manifests.put_if_present(key, staged)
    assert manifests.get(key, 1) is None
    manifests.put_if_absent(key, staged)
    assert manifests.put_if_present(key, replace(staged.placed(), size=8))
    assert replace(staged.placed(), size=8) == manifests.get(key, 1)


def test_the_latest_is_the_greatest_number(manifests, key):
    """Not the last that was put, nor one of another table; ten is more than nine."""
    for version in (9, 10, 2):
        manifests.put_if_absent(key, staged_record(name_of(version, "V1"), 1))
    manifests.put_if_absent(f"{key}/tree/b", staged_record(name_of(11, "V1"), 1))

    assert 10 == manifests.latest(key).version
    assert 9 == manifests.get(key, 9).version


def test_a_table_is_forgotten(manifests, key):
    """All of its records go, and those of no other."""
    for version in range(1, 30):
        manifests.put_if_absent(key, staged_record(name_of(version, "V2"), 1))
    manifests.put_if_absent(f"{key}x", staged_record(name_of(1, "V2"), 1))
    manifests.forget(key)

    assert manifests.latest(key) is None
    assert 1 == manifests.latest(f"{key}x").version


def test_one_of_many_writers_wins(manifests, key):
    """Of writers that put the same version at once, one succeeds."""
    records = [staged_record(name_of(1, "V2"), size) for size in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda record: manifests.put_if_absent(key, record), records))

    assert 1 == sum(won)
    assert records[won.index(True)] == manifests.get(key, 1)


def test_a_size_may_be_unknown(manifests, key):
    """Old releases kept none."""
    record = Record(1, name_of(1, "V2").path, None)
    manifests.put_if_absent(key, record)

    assert record == manifests.get(key, 1)


def test_a_file_that_is_no_database_is_a_failure(tmp_path):
    """So is a folder."""
    (tmp_path / "x").write_bytes(b"not a database, but long enough to be looked at" * 40)
    for path in (tmp_path / "x", tmp_path):
        with pytest.raises(StoreFailed, match=str(path)):
            SqliteManifests(str(path)).latest("k")


def test_a_broken_path_in_a_database_is_refused(tmp_path):
    """As everywhere."""
    manifests = SqliteManifests(str(tmp_path / "m"))
    manifests.put_if_absent("k", Record(1, name_of(1, "V2").path, 3))
    with sqlite3.connect(tmp_path / "m") as database:
        database.execute("UPDATE manifests SET path = 'elsewhere'")

    with pytest.raises(FormatError):
        manifests.latest("k")
