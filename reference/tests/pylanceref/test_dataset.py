"""Dataset face: equal to the oracle in every state of a table; locks and dropping."""

import contextlib

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref_testing.faults import Crash, Fault, faulty
from pylanceref import LanceDataset, dataset, write_dataset
from pylanceref.commit import CommitConflictError
from tests.table.states import STATES

pytestmark = pytest.mark.oracle
SYSTEM = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The path of a table in a given state, written once."""
    made = {}

    def get(state: str) -> str:
        if state not in made:
            path = tmp_path_factory.mktemp("state") / "table.lance"
            STATES[state](path)
            made[state] = str(path)
        return made[state]

    return get


@pytest.fixture
def both(tables):
    """The oracle's and our dataset of a state."""
    import lance

    return lambda state: (lance.dataset(tables(state)), pylanceref.dataset(tables(state)))


def _same(theirs, ours):
    """Values, schema with metadata, Python types."""
    assert theirs.schema.equals(ours.schema, check_metadata=True)
    assert theirs.num_rows == ours.num_rows
    assert theirs.to_pylist() == ours.to_pylist()
    ours.validate(full=True)


@pytest.mark.parametrize("state", STATES)
def test_a_table_reads_equal(state, both):
    """Scan, schema, count and system columns are equal to those of the oracle."""
    lance, ours = both(state)

    _same(lance.to_table(), ours.to_table())
    assert lance.schema.equals(ours.schema, check_metadata=True)
    assert lance.count_rows() == ours.count_rows()
    assert (lance.version, lance.latest_version) == (ours.version, ours.latest_version)
    assert lance.data_storage_version == ours.data_storage_version
    _same(
        lance.to_table(with_row_id=True, with_row_address=True),
        ours.to_table(with_row_id=True, with_row_address=True),
    )
    _same(lance.to_table(columns=SYSTEM), ours.to_table(columns=SYSTEM))


@pytest.mark.parametrize("state", STATES)
def test_a_take_reads_equal(state, both):
    """Ascending, with system columns; in any order and repeated the oracle drops metadata."""
    lance, ours = both(state)
    last = ours.count_rows() - 1
    picks = [] if last < 0 else [0, last // 3, last // 2, last]
    again = [*picks[::-1], *picks]

    _same(lance.take(picks), ours.take(picks))
    theirs, mine = lance.take(again), ours.take(again)
    _same(theirs.replace_schema_metadata(None), mine.replace_schema_metadata(None))
    if picks:
        names = [*SYSTEM, lance.schema.names[0]]
        _same(lance.take(picks, columns=names), ours.take(picks, columns=names))


@pytest.mark.parametrize("state", STATES)
def test_the_fragments_are_the_same(state, both):
    """Ids, counts, files, rows of each."""
    lance, ours = both(state)

    assert [f.fragment_id for f in lance.get_fragments()] == [
        f.fragment_id for f in ours.get_fragments()
    ]
    for theirs, mine in zip(lance.get_fragments(), ours.get_fragments(), strict=True):
        assert theirs.count_rows() == mine.count_rows()
        assert theirs.physical_rows == mine.physical_rows
        assert theirs.num_deletions == mine.num_deletions
        assert theirs.deletion_file() == mine.deletion_file()
        for file, own in zip(theirs.data_files(), mine.data_files(), strict=True):
            assert (file.path, list(file.fields), list(file.column_indices)) == (
                own.path,
                own.fields,
                own.column_indices,
            )
            assert (file.file_size_bytes, file.base_id) == (own.file_size_bytes, own.base_id)
        _same(theirs.to_table(), mine.to_table())
        _same(theirs.take([0]), mine.take([0]))


@pytest.mark.parametrize("state", STATES)
def test_every_version_is_listed_and_reads_equal(state, both):
    """Number, summary and time."""
    lance, ours = both(state)

    for theirs, mine in zip(lance.versions(), ours.versions(), strict=True):
        assert theirs == mine
        number = theirs["version"]
        _same(lance.checkout_version(number).to_table(), ours.checkout_version(number).to_table())


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda m, uri: m.dataset(uri + ".none"), ValueError),
        (lambda m, uri: m.dataset(uri, version=99), ValueError),
        (lambda m, uri: m.dataset(uri, version="none"), ValueError),
        (lambda m, uri: m.dataset(uri).checkout_version(99), OSError),
        (lambda m, uri: m.dataset(uri).checkout_version("none"), OSError),
        (lambda m, uri: m.dataset(uri).checkout_version(("none", None)), ValueError),
        (lambda m, uri: m.dataset(uri).take([20]), OSError),
        (lambda m, uri: m.dataset(uri).take([-1]), OverflowError),
        (lambda m, uri: m.dataset(uri).get_fragments()[0].take([8]), OSError),
        (lambda m, uri: m.query.PhraseQuery("a", "c", slop=1 << 32), OverflowError),
    ],
)
def test_wrong_arguments_raise_what_the_oracle_raises(call, kind, tables):
    """A program that catches the oracle's class catches ours."""
    import lance

    for module in (lance, pylanceref):
        with pytest.raises(kind):
            call(module, tables("plain 2.2"))


def test_opening_reads_no_data_file(tables):
    """Counting rows takes the manifest alone; what a take reads is counted."""
    ours = pylanceref.dataset(tables("added columns"))
    ours.io_stats_incremental()

    ours.count_rows()
    assert 0 == ours.io_stats_incremental().read_iops
    ours.take([0])
    assert 0 < ours.io_stats_incremental().read_iops


def test_a_table_is_dropped(tmp_path):
    """With all its files; one that is not there only if that is allowed."""
    pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "t").create_branch("dev")
    pylanceref.LanceDataset.drop(tmp_path / "t")

    assert not (tmp_path / "t").exists()
    pylanceref.LanceDataset.drop(tmp_path / "t", ignore_not_found=True)
    with pytest.raises(NotFound):
        pylanceref.LanceDataset.drop(tmp_path / "t")


def test_a_lock_is_held_by_every_commit(tmp_path):
    """What it raises is what the commit raises; there is no new version."""
    write_dataset(pa.table({"a": [1]}), tmp_path)
    held = []

    @contextlib.contextmanager
    def lock(version):
        held.append(version)
        if len(held) > 1:
            raise CommitConflictError
        yield

    made = dataset(tmp_path, commit_lock=lock)
    made.update_config({"k": "v"})
    with pytest.raises(CommitConflictError, match="CommitConflictError"):
        made.update_config({"k": "w"})
    assert 2 == held[0] == dataset(tmp_path).version


@pytest.mark.parametrize("ignore", [True, False])
def test_a_folder_without_manifests_is_not_dropped(tmp_path, ignore):
    """Nothing of it is touched: it may be anything."""
    kept = tmp_path / "data" / "mine"
    kept.parent.mkdir()
    kept.write_bytes(b"x")
    with pytest.raises(ValueError, match="Refusing to drop"):
        LanceDataset.drop(tmp_path, ignore_not_found=ignore)
    assert kept.read_bytes() == b"x"


def test_a_table_without_hint_that_was_dropped_in_part_is_dropped(tmp_path):
    """Before each change of its store, as in stores that list in order."""
    made = str(tmp_path / "t")
    for at in range(1, 100):
        pylanceref.write_dataset(pa.table({"a": [1]}), made)
        (tmp_path / "t/_versions/latest_version_hint.json").unlink()
        with faulty(Fault(at)) as fault, contextlib.suppress(Crash):
            LanceDataset.drop(made)
        if not fault.dead:
            break
        LanceDataset.drop(made, ignore_not_found=True)
        assert not (tmp_path / "t").exists()
    assert at > 5
