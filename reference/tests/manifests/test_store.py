"""Committing through a manifest store: at every step a writer may end, and nothing is lost."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pytest
from lanceref.core.errors import FormatError, NotFound
from lanceref.storage import LocalStore, store_options
from lanceref.storage.manifests.manifest_names import Record, name_of
from lanceref.storage.manifests.opening import ManifestedStore, SqliteManifests, open_table
from lanceref.table.refs import branch_path
from lanceref_testing.faults import Crash, Fault, FaultyManifests, faulty
from pylanceref import dataset, write_dataset

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
FIRST, SECOND = name_of(1, "V2").path, name_of(2, "V2").path

STEPS = ["create", "close", "put", "put", "record_if_absent", "put", "record_if_present", "delete"]
"""What an append does: data, transaction, staged manifest, record, manifest, record, removal."""

RESERVED = 5
"""Which of them decides."""


class Place:
    """A table that does not exist yet, and how to reach it."""

    def __init__(self, uri: str, options: dict[str, str]) -> None:
        self.uri, self.options = uri, options

    def write(self, mode: str = "create") -> int:
        """Write three rows. Return the version."""
        return write_dataset(ROWS, self.uri, mode=mode, storage_options=self.options).version

    def rows(self) -> int:
        """Return how many rows there are."""
        return dataset(self.uri, storage_options=self.options).count_rows()

    def files(self) -> list[str]:
        """Return the manifests, staged ones too."""
        store = open_table(self.uri, store_options(self.options))
        return [
            entry.path.removeprefix("_versions/")
            for entry in store.walk("_versions")
            if "hint" not in entry.path
        ]


@pytest.fixture(params=["local", "s3", "s3+ddb"])
def place(request, tmp_path) -> Place:
    """A place with a manifest store: SQLite, or DynamoDB."""
    if request.param == "local":
        options, uri = {}, str(tmp_path / "t")
    else:
        server = request.getfixturevalue("server")
        options, uri = server.options, server.uri(request.param)
    if request.param != "s3+ddb":
        options = {**options, "manifest_store": f"sqlite://{tmp_path}/manifests.db"}
    return Place(uri, options)


def test_a_commit_takes_the_steps_in_their_order(place):
    """The record is put between the staged copy and the manifest."""
    place.write()
    with faulty(Fault()) as fault:
        place.write("append")

    steps = [step.partition(" ")[0] for step in fault.steps if "hint" not in step]
    assert STEPS == steps
    assert place.files() == sorted(name_of(version, "V2").name for version in (1, 2))


@pytest.mark.parametrize("at", range(1, len(STEPS) + 2))
def test_a_writer_may_end_at_any_step(place, at):
    """What is reserved is committed by who comes next, reader or writer; what is not never was."""
    place.write()
    with suppress(Crash), faulty(Fault(at)):
        place.write("append")
    grew = 3 if at > RESERVED else 0

    assert 3 + grew == place.rows()
    litter = at in (5, 8)  # staged but not reserved; placed and recorded but not removed
    assert litter == any("-" in name for name in place.files())
    assert (3 if grew else 2) == place.write("append")
    assert 6 + grew == place.rows()


@pytest.mark.parametrize("at", range(1, len(STEPS) + 2))
def test_a_writer_comes_after_one_that_ended(place, at):
    """Without any reader in between."""
    place.write()
    with suppress(Crash), faulty(Fault(at)):
        place.write("append")

    place.write("append")
    assert (9 if at > RESERVED else 6) == place.rows()


@pytest.mark.parametrize("at", range(1, len(STEPS) + 1))
def test_a_first_version_may_end_at_any_step(place, at):
    """Before it is reserved there is no table; afterwards there is."""
    with suppress(Crash), faulty(Fault(at)):
        place.write()

    if at > RESERVED:
        assert 3 == place.rows()
    else:
        with pytest.raises(NotFound):
            place.rows()
        assert 1 == place.write()


@pytest.mark.parametrize("at", [6, 7, 8])
def test_a_repair_may_end_at_any_step_too(place, at):
    """Whoever helps may end like the one who is helped."""
    place.write()
    with suppress(Crash), faulty(Fault(at)):
        place.write("append")
    for step in (1, 2, 3):
        with suppress(Crash), faulty(Fault(step)):
            place.rows()

    assert 6 == place.rows()
    assert 3 == place.write("append")


@pytest.mark.parametrize(
    ("at", "committed"), [(4, False), (5, False), (6, True), (7, True), (8, True)]
)
def test_an_error_after_the_manifest_stands_is_no_failure(place, at, committed):
    """The record and the staged copy are set right by the next who comes."""
    place.write()
    with faulty(Fault(at, "error")):
        if committed:
            assert 2 == place.write("append")
        else:
            with pytest.raises(OSError, match="on purpose"):
                place.write("append")

    assert (6 if at > RESERVED else 3) == place.rows()


def test_a_lost_answer_of_the_record_is_looked_up(place):
    """The writer finds its own record and goes on: it has the version, once."""
    place.write()
    with faulty(Fault(RESERVED, "error", after=True)):
        assert 2 == place.write("append")

    assert 6 == place.rows()


class Twice:
    """A manifest store that puts a record, loses the answer and tries again."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def put_if_absent(self, key, record):
        """Put it twice."""
        self._inner.put_if_absent(key, record)
        return self._inner.put_if_absent(key, record)


def test_a_record_that_was_put_twice_is_ours(tmp_path):
    """That the version is taken, by ourselves, is no lost race."""
    manifests = SqliteManifests(str(tmp_path / "m"))
    store = ManifestedStore(LocalStore(tmp_path / "t"), Twice(manifests), "k")

    assert store.put_if_absent(FIRST, b"1")
    assert not store.put_if_absent(FIRST, b"2")
    assert b"1" == bytes(store.open(FIRST).read(0, 9))


def test_who_loses_leaves_the_winner_alone(tmp_path):
    """Its own copy goes; the other manifest stays as it is."""
    manifests = SqliteManifests(str(tmp_path / "m"))
    store = ManifestedStore(LocalStore(tmp_path / "t"), manifests, "k")

    assert store.put_if_absent(FIRST, b"winner")
    assert not store.put_if_absent(FIRST, b"loser")
    assert [FIRST.removeprefix("_versions/")] == list(store.list("_versions"))
    assert b"winner" == bytes(store.open(FIRST).read(0, 9))


@pytest.fixture
def parts(tmp_path):
    """A store of one version, its objects and its records."""
    inner, manifests = LocalStore(tmp_path / "t"), SqliteManifests(str(tmp_path / "m"))
    store = ManifestedStore(inner, manifests, "k")
    store.put_if_absent(FIRST, b"first")
    return store, inner, manifests


def test_a_staged_copy_that_is_gone_was_placed_by_another(parts):
    """The manifest exists: nothing is left to do but to read it."""
    store, _, manifests = parts
    record = manifests.get("k", 1)
    manifests.put_if_present("k", replace(record, path=record.path + "-gone"))

    assert b"first" == bytes(store.open(FIRST).read(0, 9))
    assert [FIRST.rpartition("/")[2]] == list(store.list("_versions"))
    assert b"first" == bytes(store.open(FIRST).read(0, 9))


@pytest.mark.parametrize("by", ["open", "list"])
def test_a_version_whose_bytes_are_nowhere_is_refused(parts, by):
    """Neither a staged copy nor a manifest: an older version is not shown instead."""
    store, _, manifests = parts
    manifests.put_if_absent("k", Record(2, SECOND + "-gone", 3))

    with pytest.raises(FormatError) as refused:
        list(store.list("_versions")) if by == "list" else store.open(SECOND)
    assert "L.txn.store.place" == refused.value.clause
    manifests.put_if_present("k", Record(2, SECOND, 3))
    with pytest.raises(FormatError) as refused:
        list(store.list("_versions"))
    assert "L.txn.store.latest" == refused.value.clause


@pytest.mark.parametrize("staged", [False, True])
def test_a_manifest_must_have_its_recorded_size(parts, staged):
    """In its place, and before it is put there."""
    store, inner, manifests = parts
    inner.put(SECOND + ("-x" if staged else ""), b"12345")
    manifests.put_if_absent("k", Record(2, SECOND + ("-x" if staged else ""), 6))

    with pytest.raises(FormatError, match="5 bytes") as refused:
        store.open(SECOND)
    assert "L.txn.store.size" == refused.value.clause


def test_a_table_without_records_gets_one(place):
    """The newest version is recorded by the first who comes, so that no writer takes it."""
    plain = {key: value for key, value in place.options.items() if key != "manifest_store"}
    uri = place.uri.replace("s3+ddb", "s3").partition("?")[0]
    for mode in ("create", "append"):
        write_dataset(ROWS, uri, mode=mode, storage_options=plain)

    assert 6 == place.rows()
    assert 3 == place.write("append")
    write_dataset(ROWS, uri, mode="append", storage_options=plain)
    assert 5 == place.write("append")
    assert 15 == place.rows()


def test_records_that_cannot_be_put_do_not_hinder_a_reader(parts):
    """A table without records is read all the same."""
    _, inner, manifests = parts
    manifests.forget("k")
    store = ManifestedStore(inner, FaultyManifests(manifests, Fault(1, "error")), "k")

    assert [FIRST.rpartition("/")[2]] == list(store.list("_versions"))
    assert manifests.latest("k") is None
    assert [FIRST.rpartition("/")[2]] == list(store.list("_versions"))


def test_branches_have_keys_of_their_own(place):
    """Below that of the table; a table or branch that is removed is forgotten."""
    place.write()
    table = dataset(place.uri, storage_options=place.options)
    branch = table.create_branch("deep/b")
    write_dataset(ROWS, branch, mode="append")

    assert (6, 3) == (table.checkout_version(("deep/b", None)).count_rows(), place.rows())
    assert 6 == dataset(branch.uri, storage_options=place.options).count_rows()
    store = open_table(place.uri, store_options(place.options))
    assert store._key + "/tree/deep/b" == store.at(branch._snapshot.store.root)._key
    assert store._key == store.at(branch._snapshot.store.root).at(store.root)._key
    type(table).drop(place.uri, place.options)
    assert store._manifests.latest(store._key) is None
    assert store._manifests.latest(store._key + "/tree/deep/b") is None
    assert 1 == place.write()


@pytest.mark.parametrize("name", ["b", "deep/b"])
def test_a_branch_that_is_gone_leaves_its_name_free(place, name):
    """Its records go with it: when it is deleted, and when what a half made one left is cleaned."""
    place.write()
    table = dataset(place.uri, storage_options=place.options)
    table.create_branch(name)
    table.branches.delete(name)
    table.create_branch(name)
    open_table(place.uri, store_options(place.options)).delete(branch_path(name))
    table.cleanup_old_versions(delete_unverified=True)

    assert 3 == table.create_branch(name).count_rows()


def test_names_are_migrated_with_their_records(place):
    """From V1 to V2, and all goes on."""
    made = write_dataset(
        ROWS, place.uri, storage_options=place.options, enable_v2_manifest_paths=False
    )
    made.migrate_manifest_paths_v2()

    assert [name_of(1, "V2").name] == place.files()
    assert 2 == place.write("append")
    assert 6 == place.rows()


def test_a_detached_version_has_no_record(place):
    """It is written by name alone, and the latest version stays what it was."""
    place.write()
    table = dataset(place.uri, storage_options=place.options)
    operation = table.get_transactions()[0].operation
    made = type(table).commit(place.uri, operation, 1, detached=True, storage_options=place.options)

    assert made.version >= 2**63
    assert 1 == dataset(place.uri, storage_options=place.options).version
    assert 3 == dataset(place.uri, made.version, storage_options=place.options).count_rows()
