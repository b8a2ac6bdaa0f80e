"""Commits: races, refusals, failures."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import (
    AlreadyExists,
    CommitConflict,
    FormatError,
    NotFound,
    RetriesExhausted,
    StoreFailed,
    UnknownFlag,
)
from lanceref.core.file_versions import V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import list_versions
from lanceref.transactions.commit import CommitPolicy, commit, transaction_of
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.transaction import new_append, new_overwrite

from tests.faulty_store import FaultyStore
from tests.table import manifests

CTX = Context("t")
SCHEMA = schema_of(pa.schema({"a": pa.int64()}))
FRAGMENT = table_pb2.DataFragment(
    files=[manifests.data_file(file_size_bytes=1000)], physical_rows=10
)


def _overwrite(read=0):
    return Staged(new_overwrite(read, [FRAGMENT], SCHEMA), SCHEMA, V2_2)


def _append(read):
    return Staged(new_append(read, [FRAGMENT]), SCHEMA, V2_2)


def _commit(store, staged, **policy):
    return commit(store, staged, CommitPolicy(**policy), CTX)


def _ids(store):
    found = open_snapshot(store, None, CTX).manifest
    return [fragment.id for fragment in found.fragments]


def test_a_transaction_becomes_a_version(tmp_path):
    """Manifest, transaction file with the same message, and hint."""
    store, staged = LocalStore(tmp_path), _overwrite()

    assert 1 == _commit(store, staged)
    name = f"0-{staged.transaction.uuid}.txn"
    assert [name] == list(store.list("_transactions"))
    assert staged.transaction.SerializeToString(deterministic=True) == bytes(
        store.open(f"_transactions/{name}").read(0, 10_000)
    )
    assert ["18446744073709551614.manifest", "latest_version_hint.json"] == list(
        store.list("_versions")
    )
    assert staged.transaction == open_snapshot(store, 1, CTX).manifest.transaction


def test_the_naming_scheme_of_a_table_stays(tmp_path):
    """V1 is chosen at creation only."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite(), scheme="V1")
    _commit(store, _append(1), scheme="V2")

    assert ["1.manifest", "2.manifest"] == [name.name for name in list_versions(store, CTX)]


def test_an_append_follows_appends_it_has_not_read(tmp_path):
    """It takes the next fragment id and keeps its read version."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    _commit(store, _append(1))

    assert 3 == _commit(store, _append(1))
    assert [0, 1, 2] == _ids(store)
    assert 1 == open_snapshot(store, 3, CTX).manifest.transaction.read_version


def test_an_append_does_not_follow_an_overwrite(tmp_path):
    """Nothing is written but what was there before."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    _commit(store, _overwrite(1))
    before = list(store.list("_transactions"))

    with pytest.raises(CommitConflict) as caught:
        _commit(store, _append(1))

    assert (2, False) == (caught.value.version, caught.value.retryable)
    assert before == list(store.list("_transactions"))


def test_a_version_that_a_listing_lacks_is_looked_for(tmp_path):
    """It was made while the folder was read, as was the one after it."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    _commit(store, _append(1))
    _commit(store, _append(2))

    class Hasty(LocalStore):
        def list(self, prefix):
            return (name for name in super().list(prefix) if not name.endswith("613.manifest"))

    assert [1, 3] == [name.version for name in list_versions(Hasty(tmp_path), CTX)]
    assert 4 == _commit(Hasty(tmp_path), _append(1))
    assert [0, 1, 2, 3] == _ids(store)


class _Forgetful(LocalStore):
    """Its first conditional put is done, and answered as if it were not."""

    def __init__(self, root, answer):
        super().__init__(root)
        self._answers = [answer]

    def put_if_absent(self, path, data):
        done = super().put_if_absent(path, data)
        if not self._answers:
            return done
        answer = self._answers.pop()
        if isinstance(answer, OSError):
            raise answer
        return answer


@pytest.mark.parametrize("answer", [False, OSError("the connection is gone")])
def test_a_commit_whose_answer_got_lost_happens_once(tmp_path, answer):
    """The version that lies there is looked at: it is our own."""
    _commit(LocalStore(tmp_path), _overwrite())

    assert 2 == _commit(_Forgetful(tmp_path, answer), _append(1))
    assert [0, 1] == _ids(LocalStore(tmp_path))
    assert 3 == _commit(LocalStore(tmp_path), _append(2))


def test_a_commit_that_may_come_yet_keeps_its_files(tmp_path):
    """The manifest may be on its way; what fails before it takes its file along."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())

    class Broken(LocalStore):
        def put_if_absent(self, path, data):
            raise OSError("who knows")

    with pytest.raises(OSError, match="who knows"):
        _commit(Broken(tmp_path), _append(1))
    assert 2 == len(list(store.list("_transactions")))


def test_a_version_that_is_gone_is_a_conflict(tmp_path):
    """Nobody can tell what it did to indexed rows; new rows fit whatever it did."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    _commit(store, _append(1))
    _commit(store, _append(2))
    store.delete(list_versions(store, CTX)[1].path)
    index = Transaction(read_version=1, uuid=str(uuid4()))
    index.create_index.new_indices.add(name="x", fields=[0])

    with pytest.raises(CommitConflict, match="unknown"):
        _commit(store, Staged(index))
    assert 4 == _commit(store, _append(1))


def test_a_table_is_created_once(tmp_path):
    """And an Append creates none."""
    store = LocalStore(tmp_path)
    with pytest.raises(NotFound, match="must already exist unless"):
        _commit(store, _append(0))
    _commit(store, _overwrite(), create_only=True)

    with pytest.raises(AlreadyExists, match="already exists"):
        _commit(store, _overwrite(), create_only=True)


def test_nothing_is_built_on_a_version_with_an_unknown_writer_bit(tmp_path):
    """L.table.flags.writer-refuses."""
    store = LocalStore(tmp_path)
    message = manifests.minimal(writer_feature_flags=1 << 20)
    store.put("_versions/1.manifest", manifests.to_bytes(message))

    with pytest.raises(UnknownFlag):
        _commit(store, _append(1))
    assert 1 == len(list_versions(store, CTX))


def test_of_many_writers_each_gets_a_version(tmp_path):
    """L.txn.commit.exclusive: sixteen appends at once, none lost, no id given twice."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda _: _commit(store, _append(1)), range(16)))

    assert list(range(2, 18)) == sorted(versions)
    assert list(range(17)) == _ids(store)


def test_who_loses_every_race_gives_up(tmp_path):
    """After its retries, with a conflict that can be tried again."""

    class Losing(LocalStore):
        def put_if_absent(self, path, data):
            _commit(LocalStore(tmp_path), _append(1))
            return False

    _commit(LocalStore(tmp_path), _overwrite())
    with pytest.raises(RetriesExhausted, match=r"version 4.*after 2 retries") as caught:
        _commit(Losing(tmp_path), _append(1), retries=2)
    assert caught.value.retryable


def test_no_version_follows_where_a_folder_has_its_name(tmp_path):
    """Trying again would not end: the first try says that the name is taken."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    (tmp_path / "_versions/18446744073709551613.manifest").mkdir()

    with pytest.raises(StoreFailed, match="name is taken"):
        _commit(store, _append(1))


def test_no_version_follows_one_that_says_a_lower_number(tmp_path):
    """The name of the next one would be taken for ever."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    latest = tmp_path / "_versions" / "18446744073709551614.manifest"
    latest.rename(latest.with_name("18446744073709551611.manifest"))

    with pytest.raises(FormatError, match=r"L\.table\.naming\.version"):
        _commit(store, _append(1))


def test_a_commit_that_fails_anywhere_leaves_the_old_version(tmp_path):
    """Whichever call fails: the commit is whole or has not happened, and the next one succeeds."""
    calls, failed = 0, 0
    while True:
        root = tmp_path / str(calls)
        _commit(LocalStore(root), _overwrite())
        store = FaultyStore(root, calls)
        try:
            _commit(store, _append(1))
        except OSError:
            failed += 1
            assert [0] == _ids(LocalStore(root))
        else:
            assert [0, 1] == _ids(LocalStore(root))
        latest = len(_ids(LocalStore(root)))
        assert latest + 1 == _commit(LocalStore(root), _append(1))
        if store.calls <= calls:
            break
        calls += 1

    assert (5, 4) == (calls, failed)


def test_the_transaction_file_counts_where_there_is_no_inline_one(tmp_path):
    """Older writers have none; without either nobody knows."""
    store = LocalStore(tmp_path)
    staged = _append(4)
    name = f"4-{staged.transaction.uuid}.txn"
    manifest = manifests.parse(manifests.minimal(transaction_file=name))

    assert transaction_of(store, manifest, CTX) is None
    store.put(f"_transactions/{name}", staged.transaction.SerializeToString())
    assert staged.transaction == transaction_of(store, manifest, CTX)
    assert transaction_of(store, manifests.parse(manifests.minimal()), CTX) is None
