"""One store, two implementations: each goes on from what the other left, at every step."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.storage.manifests.manifest_names import name_of
from lanceref_testing.faults import Crash, Fault, Meanwhile, faulty

from tests.object_server import BUCKET, TABLE, ObjectServer, prefix_of

pytestmark = pytest.mark.oracle
lance = pytest.importorskip("lance")

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
SECOND = name_of(2, "V2").path
BOTH = [(lance, pylanceref), (pylanceref, lance)]


class Shared:
    """A table on the server."""

    def __init__(self, server: ObjectServer, scheme: str) -> None:
        self.server, self.uri = server, server.uri(scheme)

    def write(self, by, mode: str = "append"):
        """Write three rows with one of the two."""
        return by.write_dataset(ROWS, self.uri, mode=mode, storage_options=self.server.options)

    def open(self, by, version: int | None = None):
        """Open the table with one of the two."""
        return by.dataset(self.uri, version, storage_options=self.server.options)

    def rows(self) -> int:
        """Return how many rows there are for both."""
        ours, theirs = self.open(pylanceref), self.open(lance)
        assert theirs.version == ours.version
        assert theirs.to_table() == ours.to_table()
        return ours.count_rows()


@pytest.fixture(params=["s3", "s3+ddb"])
def table(request, server) -> Shared:
    """A table that does not exist yet."""
    return Shared(server, request.param)


@pytest.fixture
def recorded(server) -> Shared:
    """One whose manifests are recorded in DynamoDB."""
    return Shared(server, "s3+ddb")


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_each_goes_on_from_the_other(table, first, second):
    """Rows, deletions, branches, tags, compaction and cleanup."""
    table.write(first, "create")
    table.write(second)
    assert 6 == table.rows()
    table.open(first).delete("a = 2")
    assert 4 == table.rows()
    branch = table.open(second).create_branch("b")
    second.write_dataset(ROWS, branch, mode="append")
    first.write_dataset(ROWS, branch.uri, mode="append", storage_options=table.server.options)
    assert 10 == second.dataset(branch.uri, storage_options=table.server.options).count_rows()
    table.open(first).tags.create("t", 1)
    assert 3 == table.open(second).checkout_version("t").count_rows()
    table.open(second).optimize.compact_files()
    table.open(first).cleanup_old_versions(
        older_than=timedelta(0), error_if_tagged_old_versions=False
    )
    assert 4 == table.rows()
    assert [] == lanceref.validate(table.uri, deep=True, storage_options=table.server.options)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_a_table_lives_on_with_both(table, first, second):
    """Indices, a merge, an update, a new column and a compaction, one after the other."""
    table.write(first, "create")
    table.open(first).create_scalar_index("a", "BTREE")
    assert 1 == table.open(second).to_table(filter="a = 2").num_rows
    table.open(second).merge_insert("a").when_not_matched_insert_all().execute(
        pa.table({"a": pa.array([3, 4], pa.int64())})
    )
    table.open(first).update({"a": "9"}, where="a = 1")
    table.open(second).add_columns({"b": "a + 1"})
    table.open(first).optimize.optimize_indices()
    table.open(second).optimize.compact_files()

    assert 4 == table.rows()
    for by in (first, second):
        assert [10] == table.open(by).to_table(filter="a = 9")["b"].to_pylist()
    assert [] == lanceref.validate(table.uri, deep=True, storage_options=table.server.options)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_clones_are_shared(table, first, second):
    """A shallow clone is read by the other through the URI of its base; a deep one stands alone."""
    table.write(first, "create")
    for kind in ("shallow_clone", "deep_clone"):
        uri = table.uri.replace("/table", f"/{kind}")
        getattr(table.open(first), kind)(uri, 1, storage_options=table.server.options)
        made = second.write_dataset(ROWS, uri, mode="append", storage_options=table.server.options)
        assert 6 == made.count_rows()
        assert 6 == first.dataset(uri, storage_options=table.server.options).count_rows()


def test_no_hint_is_left_in_a_store_that_lists_in_order(table):
    """Neither of the two leaves one; both leave objects of the same kinds."""
    kinds = []
    for by in (lance, pylanceref):
        other = Shared(table.server, table.uri.partition("://")[0])
        other.write(by, "create")
        kinds.append([key.partition("/")[0] for key in table.server.keys(other.uri)])

    assert ["_transactions", "_versions", "data"] == kinds[0] == kinds[1]


def test_records_are_the_same(recorded):
    """But for who put them."""
    for by in (lance, pylanceref):
        recorded.write(by, "create" if by is lance else "append")
    items = recorded.server.items(recorded.uri)

    key = prefix_of(recorded.uri)
    assert [
        {
            "base_uri": {"S": key},
            "version": {"N": f"{version}"},
            "path": {"S": f"{key}/{name_of(version, 'V2').path}"},
        }
        for version in (1, 2)
    ] == [{name: item[name] for name in ("base_uri", "version", "path")} for item in items]
    assert ["lancedb", "lanceref"] == [item["committer"]["S"] for item in items]
    assert {"base_uri", "version", "path", "size", "committer"} == set(items[0]) == set(items[1])


@pytest.mark.parametrize("reader", ["oracle reads", "oracle writes"])
@pytest.mark.parametrize("at", range(1, 10))
def test_the_oracle_finishes_what_we_left(recorded, at, reader):
    """Whatever step we ended at: a reserved version is committed, another never was."""
    recorded.write(lance, "create")
    with suppress(Crash), faulty(Fault(at)):
        recorded.write(pylanceref)
    committed = 6 if at > 5 else 3

    if reader == "oracle writes":
        recorded.write(lance)
        committed += 3
    else:
        assert committed == recorded.open(lance).count_rows()
    assert committed == recorded.rows()
    recorded.write(pylanceref)
    assert committed + 3 == recorded.rows()


def leave(recorded: Shared, step: int) -> None:
    """Make it as if the writer of version 2 had ended after a step of the commit."""
    server, staged = recorded.server, f"{SECOND}-3b8f4d6e-0c5a-4f0e-9a59-0d9cbe2a8a63"
    root = prefix_of(recorded.uri)
    where = {"Bucket": BUCKET, "Key": f"{root}/{staged}"}
    server.s3.copy_object(**where, CopySource=f"{BUCKET}/{root}/{SECOND}")
    if step <= 2:
        server.s3.delete_object(Bucket=BUCKET, Key=f"{root}/{SECOND}")
    if step == 1:
        server.remove(recorded.uri, 2)
    elif step <= 3:
        server.change(recorded.uri, 2, path={"S": f"{root}/{staged}"})


@pytest.mark.parametrize("next_is", ["reader", "writer", "reader of the version"])
@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_we_finish_what_the_oracle_left(recorded, step, next_is):
    """The same for a writer of theirs."""
    recorded.write(lance, "create")
    recorded.write(lance)
    leave(recorded, step)
    committed = 3 if step == 1 else 6

    if next_is == "writer":
        recorded.write(pylanceref)
        committed += 3
    elif next_is == "reader" or step == 1:
        assert committed == recorded.open(pylanceref).count_rows()
    else:
        assert committed == recorded.open(pylanceref, 2).count_rows()
    assert committed == recorded.rows()
    assert all(path.endswith(".manifest") for path in recorded.server.rows(recorded.uri).values())
    recorded.write(lance)
    assert committed + 3 == recorded.rows()


def test_rows_without_a_size_are_read_by_both(recorded):
    """Old releases wrote none; a staged version of theirs is finished too."""
    recorded.write(lance, "create")
    recorded.write(lance)
    leave(recorded, 2)
    recorded.server.change(recorded.uri, 1, size=None)
    recorded.server.change(recorded.uri, 2, size=None)

    assert 6 == recorded.open(pylanceref).count_rows() == recorded.rows()
    assert 3 == recorded.open(pylanceref, 1).count_rows() == recorded.open(lance, 1).count_rows()


def test_both_refuse_a_manifest_of_another_size(recorded):
    """What lies there is not what was committed."""
    recorded.write(lance, "create")
    recorded.server.change(recorded.uri, 1, size={"N": "7"})

    for by in (lance, pylanceref):
        with pytest.raises(ValueError, match="7"):
            recorded.open(by)


def test_a_table_that_was_not_recorded_goes_on(server):
    """One that was written to the bucket alone is committed to through the table, by both."""
    plain = Shared(server, "s3")
    plain.write(lance, "create")
    plain.write(pylanceref)
    recorded = Shared(server, "s3+ddb")
    recorded.uri = f"{plain.uri}?ddbTableName={TABLE}".replace("s3:", "s3+ddb:")

    assert 6 == recorded.rows()
    for by in (pylanceref, lance):
        recorded.write(by)
    assert 12 == recorded.rows() == plain.rows()


def test_the_oracle_takes_a_recorded_detached_version_for_the_latest(recorded):
    """D.txn.detached-record: we do not record one, and pass over those that are."""
    recorded.write(lance, "create")
    operation = lance.LanceOperation.Append(
        lance.fragment.write_fragments(ROWS, recorded.uri, storage_options=recorded.server.options)
    )
    made = lance.LanceDataset.commit(
        recorded.uri,
        operation,
        1,
        detached=True,
        storage_options=recorded.server.options,
    )

    assert made.version == recorded.open(lance).version >= 2**63
    assert 1 == recorded.open(pylanceref).version


def test_many_writers_of_both_kinds_lose_nothing(table):
    """Each commit that returned is there."""
    table.write(lance, "create")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(table.write, [lance, pylanceref] * 6))

    assert 3 * 13 == table.rows()
    assert 13 == table.open(lance).version


@pytest.mark.parametrize("before", range(1, 9))
def test_the_oracle_comes_in_between(table, before):
    """At every step of ours it commits, and both commits are there."""
    table.write(lance, "create")
    with faulty(Meanwhile(before=before, other=lambda: table.write(lance))) as fault:
        table.write(pylanceref)

    assert fault.other is None or before > len(fault.steps)
    assert (6 if fault.other else 9) == table.rows()


KILLED = """
import sys
import pyarrow as pa
from pylanceref import write_dataset
from lanceref_testing.faults import Fault, faulty
with faulty(Fault(int(sys.argv[1]), "kill")):
    rows = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
    write_dataset(rows, sys.argv[2], mode="append", storage_options=eval(sys.argv[3]))
"""


@pytest.mark.parametrize("at", [5, 6, 7, 8])
def test_a_killed_writer_loses_nothing(recorded, at):
    """A process that ends for real leaves what the table goes on from."""
    recorded.write(lance, "create")
    command = [sys.executable, "-c", KILLED, str(at), recorded.uri, repr(recorded.server.options)]
    assert -9 == subprocess.run(command, check=False, timeout=120).returncode

    assert (6 if at > 5 else 3) == recorded.open(lance).count_rows()
    recorded.write(pylanceref)
    assert (9 if at > 5 else 6) == recorded.rows()
