"""One manifest store, two implementations: each goes on from what the other left."""

from datetime import timedelta

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.storage.manifests.manifest_names import name_of
from lanceref_testing.object_server import BUCKET, TABLE, ObjectServer, prefix_of

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
    """Rows, deletions, branches, tags, compaction and cleanup alternate between both."""
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
def test_clones_are_shared(table, first, second):
    """A shallow clone is read through its base by the other, a deep one stands alone."""
    table.write(first, "create")
    for kind in ("shallow_clone", "deep_clone"):
        uri = table.uri.replace("/table", f"/{kind}")
        getattr(table.open(first), kind)(uri, 1, storage_options=table.server.options)
        made = second.write_dataset(ROWS, uri, mode="append", storage_options=table.server.options)
        assert 6 == made.count_rows()
        assert 6 == first.dataset(uri, storage_options=table.server.options).count_rows()


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
    """We commit a version that the oracle reserved, whatever step it ended at."""
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


def test_a_table_that_was_not_recorded_goes_on(server):
    """A table written to the bucket alone is committed to through records by both."""
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
    """D.txn.detached-record: we record no detached version and pass over those that are."""
    recorded.write(lance, "create")
    operation = lance.LanceOperation.Append(
        lance.fragment.write_fragments(ROWS, recorded.uri, storage_options=recorded.server.options)
    )
    made = lance.LanceDataset.commit(
        recorded.uri, operation, 1, detached=True, storage_options=recorded.server.options
    )

    assert made.version == recorded.open(lance).version >= 2**63
    assert 1 == recorded.open(pylanceref).version
