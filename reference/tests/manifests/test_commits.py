"""Commits with a manifest store: at every step a writer may end, and nothing is lost."""

from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa
import pytest
from lanceref.core.errors import FormatError, NotFound
from lanceref.storage import LocalStore, store_options
from lanceref.storage.manifests.manifest_names import Record, name_of
from lanceref.storage.manifests.opening import ManifestedStore, SqliteManifests, open_table
from lanceref.table.refs import branch_path
from lanceref_testing.faults import Crash, Fault, Interleaved, faulty
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

    def writer(self, fault: Fault) -> Callable[[], None]:
        """Return what appends three rows, or ends as the fault has it."""
        with faulty(fault):
            opened = dataset(self.uri, storage_options=self.options)

        def write() -> None:
            with suppress(Crash):
                write_dataset(ROWS, opened, mode="append")

        return write

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
    """A reserved version is committed by the next reader or writer; another never existed."""
    place.write()
    with suppress(Crash), faulty(Fault(at)):
        place.write("append")
    grew = 3 if at > RESERVED else 0

    assert 3 + grew == place.rows()
    litter = at in (5, 8)  # staged but not reserved; placed and recorded but not removed
    assert litter == any("-" in name for name in place.files())
    assert (3 if grew else 2) == place.write("append")
    assert 6 + grew == place.rows()


@pytest.mark.parametrize("at", range(1, len(STEPS) + 1))
def test_a_first_version_may_end_at_any_step(place, at):
    """Before the first version is reserved there is no table, afterwards there is."""
    with suppress(Crash), faulty(Fault(at)):
        place.write()

    if at > RESERVED:
        assert 3 == place.rows()
    else:
        with pytest.raises(NotFound):
            place.rows()
        assert 1 == place.write()


@pytest.mark.parametrize(
    ("at", "committed"), [(4, False), (5, False), (6, True), (7, True), (8, True)]
)
def test_an_error_after_the_manifest_stands_is_no_failure(place, at, committed):
    """An error before the reservation fails the commit; a later one does not."""
    place.write()
    with faulty(Fault(at, "error")):
        if committed:
            assert 2 == place.write("append")
        else:
            with pytest.raises(OSError, match="on purpose"):
                place.write("append")

    assert (6 if at > RESERVED else 3) == place.rows()


@pytest.fixture
def parts(tmp_path):
    """A store of one version, its objects and its records."""
    inner, manifests = LocalStore(tmp_path / "t"), SqliteManifests(str(tmp_path / "m"))
    store = ManifestedStore(inner, manifests, "k")
    store.put_if_absent(FIRST, b"first")
    return store, inner, manifests


@pytest.mark.parametrize("by", ["open", "list"])
def test_a_version_whose_bytes_are_nowhere_is_refused(parts, by):
    """A recorded version without bytes is refused, and no older one is shown instead."""
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
    """A manifest of another size is refused in its place and before it is placed."""
    store, inner, manifests = parts
    inner.put(SECOND + ("-x" if staged else ""), b"12345")
    manifests.put_if_absent("k", Record(2, SECOND + ("-x" if staged else ""), 6))

    with pytest.raises(FormatError, match="5 bytes") as refused:
        store.open(SECOND)
    assert "L.txn.store.size" == refused.value.clause


def test_a_table_without_records_gets_one(place):
    """The newest version of a table without records is recorded by the first who opens it."""
    plain = {key: value for key, value in place.options.items() if key != "manifest_store"}
    uri = place.uri.replace("s3+ddb", "s3").partition("?")[0]
    for mode in ("create", "append"):
        write_dataset(ROWS, uri, mode=mode, storage_options=plain)

    assert 6 == place.rows()
    assert 3 == place.write("append")
    write_dataset(ROWS, uri, mode="append", storage_options=plain)
    assert 5 == place.write("append")
    assert 15 == place.rows()


def test_branches_have_keys_of_their_own(place):
    """Branches are recorded below the table's key and forgotten with it."""
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
    """A deleted branch and a half-made one leave no records."""
    place.write()
    table = dataset(place.uri, storage_options=place.options)
    table.create_branch(name)
    table.branches.delete(name)
    table.create_branch(name)
    open_table(place.uri, store_options(place.options)).delete(branch_path(name))
    table.cleanup_old_versions(delete_unverified=True)

    assert 3 == table.create_branch(name).count_rows()


def test_names_are_migrated_with_their_records(place):
    """Migration of names from V1 to V2 renames records too."""
    made = write_dataset(
        ROWS, place.uri, storage_options=place.options, enable_v2_manifest_paths=False
    )
    made.migrate_manifest_paths_v2()

    assert [name_of(1, "V2").name] == place.files()
    assert 2 == place.write("append")
    assert 6 == place.rows()


def test_a_detached_version_has_no_record(place):
    """A detached version is written by name and leaves the latest as it was."""
    place.write()
    table = dataset(place.uri, storage_options=place.options)
    operation = table.get_transactions()[0].operation
    made = type(table).commit(place.uri, operation, 1, detached=True, storage_options=place.options)

    assert made.version >= 2**63
    assert 1 == dataset(place.uri, storage_options=place.options).version
    assert 3 == dataset(place.uri, made.version, storage_options=place.options).count_rows()


RACE_STEPS = 9
"""Steps of an append to a folder with a manifest store: the eight of a commit, and the hint."""


def reserved(*faults: Fault) -> int:
    """Return how many versions the writers reserved before they ended: the first record of each."""
    done = [
        step for fault in faults for step in fault.steps[: fault.at - 1 if fault.dead else None]
    ]
    return len({step.partition("-")[0] for step in done if step.startswith("record_if_absent")})


@pytest.mark.parametrize("first_ends", [False, True])
@pytest.mark.parametrize("ends", range(1, RACE_STEPS + 4))
@pytest.mark.parametrize("before", range(1, RACE_STEPS + 1))
def test_another_writer_comes_in_between_and_one_ends(tmp_path, before, ends, first_ends):
    """A second may come before any step, either may end at any: reserved versions are committed."""
    place = Place(str(tmp_path / "t"), {"manifest_store": f"sqlite://{tmp_path}/m.db"})
    place.write()
    other = Fault(0 if first_ends else ends)
    first = Interleaved(ends - other.at, before=before, other=place.writer(other))
    place.writer(first)()

    acknowledged = 3 if not first_ends or before <= ends else 0
    assert 3 + 3 * reserved(first, other) == place.rows() >= 3 + acknowledged
    place.write("append")
    assert 6 + 3 * reserved(first, other) == place.rows()
