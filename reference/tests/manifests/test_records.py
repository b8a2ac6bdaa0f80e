"""Manifest names and records: what a name says, and stores that keep records by version."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, StoreFailed, VersionNotFound
from lanceref.storage import LocalStore
from lanceref.storage.manifests.dynamodb import DynamoManifests
from lanceref.storage.manifests.manifest_names import (
    TOP,
    Record,
    find_version,
    list_versions,
    name_of,
    parse_name,
    parse_record,
    staged_record,
    write_hint,
)
from lanceref.storage.manifests.opening import SqliteManifests
from lanceref_testing.object_server import TABLE, prefix_of

CTX = Context("t")


def _folder(tmp_path, *names):
    (tmp_path / "_versions").mkdir()
    for name in names:
        (tmp_path / "_versions" / name).write_bytes(b"")
    return LocalStore(tmp_path)


def _v2(version: int) -> str:
    return f"{TOP - version:020d}.manifest"


def test_the_latest_is_the_greatest_attached(tmp_path):
    """Neither left-over files nor detached versions count as the latest."""
    store = _folder(
        tmp_path,
        _v2(1),
        _v2(10),
        _v2(9),
        f"{_v2(11)}#1",
        "latest_version_hint.json",
        f"d{2**63 + 99}.manifest",
    )

    assert [1, 9, 10] == [name.version for name in list_versions(store, CTX)]
    assert 10 == find_version(store, CTX, None).version
    assert 9 == find_version(store, CTX, 9).version
    assert 2**63 + 99 == find_version(store, CTX, 2**63 + 99).version


@pytest.mark.parametrize("version", [3, 0, -1, 2**63 + 1])
def test_a_version_that_is_not_there_is_not_found(version, tmp_path):
    """A missing version is a ValueError and an OSError, since pylance raises either."""
    store = _folder(tmp_path, _v2(1), _v2(2))
    with pytest.raises(VersionNotFound) as caught:
        find_version(store, CTX, version)

    assert isinstance(caught.value, ValueError) and isinstance(caught.value, OSError)


@pytest.mark.parametrize(("version", "scheme"), [(-1, "V2"), (2**63, "V1"), (1, "detached")])
def test_a_version_without_a_name_is_refused(version, scheme):
    """Negative versions and the wrong side of the detached bit have no name."""
    with pytest.raises(ValueError, match="has no"):
        name_of(version, scheme)


@given(st.integers(0, 2**63 - 1))
def test_names_parse_back(version):
    """Names of attached versions parse back in both schemes."""
    assert name_of(version, "V2") == parse_name(name_of(version, "V2").name)
    assert name_of(version, "V1") == parse_name(name_of(version, "V1").name)


def test_a_hint_that_cannot_be_written_harms_nothing(tmp_path):
    """A folder in place of the hint changes nothing for readers."""
    store = _folder(tmp_path, "1.manifest")
    (tmp_path / "_versions/latest_version_hint.json").mkdir()
    write_hint(store, 1)

    assert 1 == find_version(store, CTX, None).version


FIRST = "_versions/18446744073709551614.manifest"


@given(st.integers(0, 2**63 - 1), st.sampled_from(["V1", "V2"]), st.booleans())
def test_a_record_is_kept_below_the_key(version, scheme, staged):
    """A record that is written below a key is read back, staged or placed."""
    record = staged_record(name_of(version, scheme), 3)
    record = record if staged else record.placed()

    assert record == parse_record("a/b", version, f"a/b/{record.path}", 3)
    assert staged == record.staged


@pytest.mark.parametrize(
    "path",
    [
        "",
        FIRST,
        f"other/{FIRST}",
        f"key/../{FIRST}",
        "key/_versions/18446744073709551613.manifest",
        "key/_versions/18446744073709551613.manifest-x",
        "key/_versions/x",
        "key/_versions/-x",
        "key/_versions/a/18446744073709551614.manifest",
        "key/data/18446744073709551614.manifest",
        "key/18446744073709551614.manifest",
        "key/_versions/18446744073709551614.manifestx",
    ],
)
def test_another_path_is_refused(path):
    """A recorded path is a manifest of that version below the table's key."""
    with pytest.raises(FormatError) as refused:
        parse_record("key", 1, path, None)

    assert "L.txn.store.path" == refused.value.clause
    assert repr(path) in refused.value.found


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
    """The second put of a version changes nothing and returns False."""
    first = staged_record(name_of(1, "V2"), 7)

    assert manifests.get(key, 1) is None
    assert manifests.latest(key) is None
    assert manifests.put_if_absent(key, first)
    assert not manifests.put_if_absent(key, staged_record(name_of(1, "V2"), 7))
    assert first == manifests.get(key, 1) == manifests.latest(key)


def test_a_record_is_replaced_only_where_there_is_one(manifests, key):
    """A record is replaced by its new path and size if it exists."""
    staged = staged_record(name_of(1, "V2"), 7)

    assert not manifests.put_if_present(key, staged)
    assert manifests.get(key, 1) is None
    manifests.put_if_absent(key, staged)
    assert manifests.put_if_present(key, replace(staged.placed(), size=8))
    assert replace(staged.placed(), size=8) == manifests.get(key, 1)


def test_the_latest_is_the_greatest_number(manifests, key):
    """The latest record has the greatest number of its own table."""
    for version in (9, 10, 2):
        manifests.put_if_absent(key, staged_record(name_of(version, "V1"), 1))
    manifests.put_if_absent(f"{key}/tree/b", staged_record(name_of(11, "V1"), 1))

    assert 10 == manifests.latest(key).version
    assert 9 == manifests.get(key, 9).version


def test_a_table_is_forgotten(manifests, key):
    """Forgetting a table removes its records and no others."""
    for version in range(1, 30):
        manifests.put_if_absent(key, staged_record(name_of(version, "V2"), 1))
    manifests.put_if_absent(f"{key}x", staged_record(name_of(1, "V2"), 1))
    manifests.forget(key)

    assert manifests.latest(key) is None
    assert 1 == manifests.latest(f"{key}x").version


def test_one_of_many_writers_wins(manifests, key):
    """Of writers that put one version at once, one succeeds."""
    records = [staged_record(name_of(1, "V2"), size) for size in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda record: manifests.put_if_absent(key, record), records))

    assert 1 == sum(won)
    assert records[won.index(True)] == manifests.get(key, 1)


def test_a_file_that_is_no_database_is_a_failure(tmp_path):
    """A file of other bytes and a folder are failures of the store, by path."""
    (tmp_path / "x").write_bytes(b"not a database, but long enough to be looked at" * 40)
    for path in (tmp_path / "x", tmp_path):
        with pytest.raises(StoreFailed, match=str(path)):
            SqliteManifests(str(path)).latest("k")


def test_a_broken_path_in_a_database_is_refused(tmp_path):
    """A recorded path that leads elsewhere is refused when it is read."""
    manifests = SqliteManifests(str(tmp_path / "m"))
    manifests.put_if_absent("k", Record(1, name_of(1, "V2").path, 3))
    with sqlite3.connect(tmp_path / "m") as database:
        database.execute("UPDATE manifests SET path = 'elsewhere'")

    with pytest.raises(FormatError):
        manifests.latest("k")


FIRST_RECORD = Record(1, name_of(1, "V2").path, 7)


def test_an_item_has_the_attributes_of_the_layout(server):
    """An item holds key and path as text, version and size as numbers."""
    uri = server.uri("s3+ddb")
    key = prefix_of(uri)
    DynamoManifests(TABLE, server.options).put_if_absent(key, FIRST_RECORD)

    assert [
        {
            "base_uri": {"S": key},
            "version": {"N": "1"},
            "path": {"S": f"{key}/_versions/18446744073709551614.manifest"},
            "size": {"N": "7"},
            "committer": {"S": "lanceref"},
        }
    ] == server.items(uri)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("size", {"S": "7"}), ("size", {"N": "1.5"}), ("path", {"N": "5"}), ("path", None)],
)
def test_attributes_of_another_type_are_refused(server, attribute, value):
    """An attribute of another type is refused by its clause and name."""
    uri = server.uri("s3+ddb")
    manifests = DynamoManifests(TABLE, server.options)
    manifests.put_if_absent(prefix_of(uri), FIRST_RECORD)
    server.change(uri, 1, **{attribute: value})

    with pytest.raises(FormatError, match=attribute) as refused:
        manifests.latest(prefix_of(uri))
    assert "L.txn.store.record" == refused.value.clause


def test_a_table_must_be_keyed_by_both(server):
    """A missing DynamoDB table and one with other keys are refused."""
    server.make_table("others", "uri", "version")

    with pytest.raises(StoreFailed, match="keyed by"):
        DynamoManifests("others", server.options)
    with pytest.raises(StoreFailed, match="no-such-table"):
        DynamoManifests("no-such-table", server.options)
