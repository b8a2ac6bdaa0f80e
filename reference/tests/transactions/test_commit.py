"""Commits: races, lost answers, failures and rebases leave the old version or the new one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core import errors
from lanceref.core.context import Context
from lanceref.core.file_versions import V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import find_version, list_versions
from lanceref.table.manifest import open_named
from lanceref.transactions.apply import check_succession
from lanceref.transactions.commit import CommitPolicy, commit, rebase, transaction_of
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.transaction import new_append, new_overwrite
from pylanceref import dataset, write_dataset

from tests.table import manifests
from tests.transactions import versions

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
    """A commit writes the manifest, a transaction file of the same message, and the hint."""
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


def test_a_version_that_a_listing_lacks_is_looked_for(tmp_path):
    """A version that was made during the listing is found."""
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
    """A commit whose answer got lost finds its own version."""
    _commit(LocalStore(tmp_path), _overwrite())

    assert 2 == _commit(_Forgetful(tmp_path, answer), _append(1))
    assert [0, 1] == _ids(LocalStore(tmp_path))
    assert 3 == _commit(LocalStore(tmp_path), _append(2))


def test_a_commit_that_may_come_yet_keeps_its_files(tmp_path):
    """A commit with an unknown outcome keeps its transaction file."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())

    class Broken(LocalStore):
        def put_if_absent(self, path, data):
            raise OSError("who knows")

    with pytest.raises(OSError, match="who knows"):
        _commit(Broken(tmp_path), _append(1))
    assert 2 == len(list(store.list("_transactions")))


def test_a_version_that_is_gone_is_a_conflict(tmp_path):
    """A missing version conflicts with new indices and not with new rows."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())
    _commit(store, _append(1))
    _commit(store, _append(2))
    store.delete(list_versions(store, CTX)[1].path)
    index = Transaction(read_version=1, uuid=str(uuid4()))
    index.create_index.new_indices.add(name="x", fields=[0])

    with pytest.raises(errors.CommitConflict, match="unknown"):
        _commit(store, Staged(index))
    assert 4 == _commit(store, _append(1))


def test_a_table_is_created_once(tmp_path):
    """A table is created once, an append creates none, and an overwrite gives ids of its own."""
    store = LocalStore(tmp_path)
    with pytest.raises(errors.NotFound, match="must already exist unless"):
        _commit(store, _append(0))
    _commit(store, _overwrite(), create_only=True)

    with pytest.raises(errors.AlreadyExists, match="already exists"):
        _commit(store, _overwrite(), create_only=True)
    for wrong in ("a/b", "a\0b"):
        staged = _append(1)
        staged.transaction.uuid = wrong
        with pytest.raises(errors.OperationRefused, match="no part of a file's name"):
            _commit(store, staged)
    staged = _overwrite(1)
    staged.transaction.overwrite.fragments[0].id = 9
    _commit(store, staged)
    assert [1] == _ids(store)


def test_of_many_writers_each_gets_a_version(tmp_path):
    """L.txn.commit.exclusive: sixteen concurrent appends get versions and ids of their own."""
    store = LocalStore(tmp_path)
    _commit(store, _overwrite())

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda _: _commit(store, _append(1)), range(16)))

    assert list(range(2, 18)) == sorted(versions)
    assert list(range(17)) == _ids(store)


def test_who_loses_every_race_gives_up(tmp_path):
    """A writer that always loses raises a retryable conflict after its retries."""

    class Losing(LocalStore):
        def put_if_absent(self, path, data):
            _commit(LocalStore(tmp_path), _append(1))
            return False

    _commit(LocalStore(tmp_path), _overwrite())
    with pytest.raises(errors.RetriesExhausted, match=r"version 4.*after 2 retries") as caught:
        _commit(Losing(tmp_path), _append(1), retries=2)
    assert caught.value.retryable


LATEST, NEXT = "18446744073709551614.manifest", "18446744073709551613.manifest"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda v: (v / NEXT).mkdir(), errors.StoreFailed, "name is taken"),
        (
            lambda v: (v / LATEST).rename(v / "18446744073709551611.manifest"),
            errors.FormatError,
            r"L\.table\.naming\.version",
        ),
    ],
)
def test_no_version_follows_where_names_do_not_fit(tmp_path, change, error, text):
    """A folder has the name of the next manifest, or the latest states a lower version than its."""
    _commit(LocalStore(tmp_path), _overwrite())
    change(tmp_path / "_versions")

    with pytest.raises(error, match=text):
        _commit(LocalStore(tmp_path), _append(1))


def test_the_transaction_file_counts_where_there_is_no_inline_one(tmp_path):
    """Without an inline transaction the transaction file is read."""
    store = LocalStore(tmp_path)
    staged = _append(4)
    name = f"4-{staged.transaction.uuid}.txn"
    manifest = manifests.parse(manifests.minimal(transaction_file=name))

    assert transaction_of(store, manifest, CTX) is None
    store.put(f"_transactions/{name}", staged.transaction.SerializeToString())
    assert staged.transaction == transaction_of(store, manifest, CTX)
    assert transaction_of(store, manifests.parse(manifests.minimal()), CTX) is None


class _Gone:
    """A table whose fragments have the same rows deleted."""

    def __init__(self, root, *rows):
        self.store = LocalStore(root)
        self.deleted = np.array(rows, np.int64)

    def rows(self, before, fragment):
        return self


def _deletion(rows):
    entry = {"read_version": 1, "id": 1, "num_deleted_rows": len(rows)}
    fragment = manifests.fragment(0, versions.files(0, 1, 2), deletion_file=entry)
    given = versions.transaction(delete={"updated_fragments": [fragment]})
    return Staged(given, affected={0: np.array(rows, np.int64)})


THEIRS = [_deletion([7]).transaction]


def test_a_fragment_with_a_row_that_is_gone_is_not_removed(tmp_path):
    """Removing a fragment with newly deleted rows is a retryable conflict."""
    ours = Staged(versions.transaction(delete={"deleted_fragment_ids": [0]}), affected={})
    with pytest.raises(errors.CommitConflict) as caught:
        rebase(ours, THEIRS, versions.table(version=4), _Gone(tmp_path, 7))

    assert caught.value.retryable


def test_a_new_index_does_not_cover_columns_written_since(tmp_path):
    """A new index loses fragments whose column was rewritten since."""
    columns = {"updated_fragments": [manifests.fragment(0)], "fields_modified": [1]}
    theirs = [versions.transaction(update={**columns, "update_mode": 1})]
    ours = Staged(
        versions.transaction(create_index={"new_indices": [versions.index("b", 1, [0, 1])]})
    )
    made = rebase(ours, theirs, versions.table(version=2), _Gone(tmp_path))

    kept = made.transaction.create_index.new_indices[0]
    assert versions.index("b", 1, [1]).fragment_bitmap == kept.fragment_bitmap
    gone = versions.table(version=2, fields=versions.FIELDS[:1])
    with pytest.raises(errors.CommitConflict) as caught:
        rebase(ours, theirs, gone, _Gone(tmp_path))
    assert not caught.value.retryable


@pytest.mark.oracle
@pytest.mark.parametrize("between", [("drop",), ("delete", "drop"), ("drop", "delete")])
@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_oracle_keeps_the_same_files(tmp_path, change, between):
    """Both keep the same files in transaction and version after a drop between."""
    import lance

    steps = {"drop": lambda one: one.drop_columns(["c"]), "delete": lambda one: one.delete("k = 1")}
    found = []
    for module, name in ((lance, "o"), (pylanceref, "l")):
        root = str(tmp_path / name)
        module.write_dataset(pa.table({"k": range(9), "f": range(9)}), root).add_columns({"c": "k"})
        old = module.dataset(root)
        for step in between:
            steps[step](module.dataset(root))
        if change == "update":
            old.update({"f": "7"}, where="k > 4")
        else:
            old.delete("k > 4")
        made = module.dataset(root)
        operation = made.get_transactions(1)[0].operation
        parts = [*operation.updated_fragments, *made.get_fragments()]
        kept = [one.files if hasattr(one, "files") else one.data_files() for one in parts]
        found.append([[file.fields for file in files] for files in kept])

    assert found[0] == found[1]


def test_a_version_is_what_its_transaction_makes_of_the_one_before(tmp_path):
    """Another deletion file, an invented flag and an impossible operation are found."""
    write_dataset(pa.table({"a": range(4)}), tmp_path)
    dataset(tmp_path).delete("a = 1")
    store = LocalStore(str(tmp_path))

    def found(edit) -> list[str]:
        ctx = Context("m", findings=[])
        manifest = open_named(store, find_version(store, CTX, None), CTX)
        edit(manifest)
        check_succession(store, replace(manifest), ctx)
        return [finding.clause for finding in ctx.findings]

    def other_file(manifest) -> None:
        manifest.message.fragments[0].deletion_file.id = 1

    def flag(manifest) -> None:
        manifest.message.reader_feature_flags |= 256

    def elsewhere(manifest) -> None:
        manifest.transaction.data_replacement.replacements.add(fragment_id=9)

    assert [] == found(lambda manifest: manifest.message.ClearField("max_fragment_id"))  # is 0
    assert ["L.txn.op.delete"] == found(other_file)
    assert ["L.table.flags.sticky"] == found(flag)
    assert ["L.txn.op.data-replacement"] == found(elsewhere)
