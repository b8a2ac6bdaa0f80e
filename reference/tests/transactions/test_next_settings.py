"""The next version: settings, bases, index entries and clones."""

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import (
    CommitConflict,
    LimitExceeded,
    NotFound,
    OperationRefused,
    SchemaRefused,
)
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import LocalStore
from lanceref.table.lineage import encode_row_ids
from lanceref.transactions.index_entries import bring_forward, covered, moved
from lanceref.transactions.manifest_builder import REUSE_INDEX, WRITER, write_clone
from pyroaring import BitMap

from tests.table import manifests
from tests.transactions import versions


def _edit(replace=False, **updates):
    entries = [{"key": k} if v is None else {"key": k, "value": v} for k, v in updates.items()]
    return {"update_entries": entries, "replace": replace}


def test_maps_are_edited_by_key():
    """A value sets a key, none removes it, and the config flag follows."""
    before = versions.table(config={"a": "1", "b": "2"}, writer_feature_flags=8)
    made = versions.after(before, update_config={"config_updates": _edit(a=None, c="3")})

    assert {"b": "2", "c": "3"} == dict(made.message.config)
    emptied = versions.after(made, update_config={"config_updates": _edit(b=None, c=None)})
    assert ({}, 0) == (dict(emptied.message.config), emptied.message.writer_feature_flags)


def test_bases_get_ids_of_their_own():
    """A base without an id gets the lowest free one; a used name or path is refused."""
    base = {"name": "x", "path": "/x", "id": 2}
    made = versions.after(versions.table(), update_bases={"new_bases": [base]})
    more = versions.after(made, update_bases={"new_bases": [{"path": "/y"}, {"path": "/z"}]})

    assert [2, 1, 3] == [one.id for one in more.message.base_paths]
    assert 16 == more.message.reader_feature_flags
    for twice in ({**base, "id": 5}, {"path": "/x"}, {"path": "/v", "id": 2}):
        with pytest.raises(OperationRefused, match="exists"):
            versions.after(made, update_bases={"new_bases": [twice]})


def _logged(**words):
    """Return a table with a log index, which holds generation 4 of a shard."""
    log = table_pb2.IndexMetadata(name="__lance_mem_wal", dataset_version=1)
    log.uuid.uuid = bytes(16)
    details = mem_wal_pb2.MemWalIndexDetails(**words)
    details.compacted_sstables.add(generation=4).shard_id.uuid = b"s" * 16
    log.index_details.Pack(details)
    return versions.indexed(versions.table(), log)


def test_the_log_remembers_what_is_in_the_table():
    """The log index keeps the newest generation of each shard."""
    news = [
        {"shard_id": {"uuid": b"s" * 16}, "generation": 3},
        {"shard_id": {"uuid": b"t" * 16}, "generation": 1},
    ]
    made = versions.after(_logged(num_shards=2), update_mem_wal_state={"compacted_sstables": news})
    held = mem_wal_pb2.MemWalIndexDetails()
    made.indices[0].index_details.Unpack(held)

    assert [4, 1] == [one.generation for one in held.compacted_sstables]
    assert 2 == held.num_shards
    with pytest.raises(OperationRefused):
        versions.after(versions.table(), update_mem_wal_state={"compacted_sstables": news})


def test_an_update_notes_what_it_took_in():
    """An update records a later generation only, and needs a log index."""
    before = _logged()

    def noting(generation: int) -> dict[str, object]:
        return {"compacted_sstables": [{"shard_id": {"uuid": b"s" * 16}, "generation": generation}]}

    made = versions.after(before, update=noting(5))
    details = mem_wal_pb2.MemWalIndexDetails()
    made.indices[0].index_details.Unpack(details)

    assert [5] == [one.generation for one in details.compacted_sstables]
    assert made.version == made.indices[0].dataset_version
    with pytest.raises(OperationRefused, match="proposed generation 4 is not greater"):
        versions.after(before, update=noting(4))
    with pytest.raises(OperationRefused, match="does not exist"):
        versions.after(versions.table(), update=noting(1))


def test_of_several_segments_the_dead_ones_go():
    """Segments of dead fragments go, except the only one or the first; one made again is one."""
    segments = [versions.index("x", 0, [0], 1), versions.index("x", 0, [1], 2)]
    alone = versions.index("y", 0, [0], 3)
    before = versions.indexed(versions.table(), *segments, alone)

    one = versions.after(before, delete={"deleted_fragment_ids": [0]})
    none = versions.after(before, delete={"deleted_fragment_ids": [0, 1]})
    again = versions.after(before, create_index={"new_indices": [alone]})

    assert before.indices == again.indices
    assert [2, 3] == [int.from_bytes(entry.uuid.uuid, "big") for entry in one.indices]
    assert [1, 3] == [int.from_bytes(entry.uuid.uuid, "big") for entry in none.indices]


def test_new_fragments_take_the_place_of_old_ones():
    """A group is covered whole or not at all; half a group is refused."""
    assert BitMap([0, 5]) == moved(BitMap([0, 1, 2]), [([1, 2], [5])])
    assert BitMap([0]) == moved(BitMap([0]), [([1, 2], [5])])
    with pytest.raises(OperationRefused, match="split"):
        moved(BitMap([1]), [([1, 2], [5])])


def test_more_fragments_than_may_be_listed_are_refused():
    """L.table.limits.bitmap: a few bytes of a transaction may cover millions of fragments."""
    entry = table_pb2.IndexMetadata()
    entry.fragment_bitmap = BitMap(range(2**20), optimize=True).serialize()
    with pytest.raises(LimitExceeded, match="1048576 fragments"):
        covered(entry)


def led_on(*covers: list[int]) -> list[list[int]]:
    """Return what entries cover after 6 became 9, and 7 and 8 became 10; the last says so."""
    details = FragmentReuseIndexDetails()
    version = details.inline.versions.add(dataset_version=3)
    for old, new in (([6], [9]), ([7, 8], [10])):
        group = version.groups.add()
        for number in old:
            group.old_fragments.add(id=number)
        for number in new:
            group.new_fragments.add(id=number)
    *plain, last = covers
    indices = [versions.index(f"x{one}", 0, one) for one in plain]
    indices.append(versions.index(REUSE_INDEX, 0, last))
    indices[-1].index_details.value = details.SerializeToString()
    bring_forward(indices)
    return [list(covered(one) or ()) for one in indices]


def test_an_entry_follows_whole_groups_and_the_one_that_says_so_every_group():
    """Entries follow whole groups, and the reuse entry follows every group."""
    assert [[9, 10], [2, 9], [7], [9, 10]] == led_on([6, 7, 8], [2, 6], [7], [6, 7, 9, 10])


def test_a_table_that_mixes_files_already_is_left_alone():
    """A commit to a table of mixed 0.1 and 2.x files is refused."""
    old = versions.files(0)
    old.update(file_major_version=0, file_minor_version=2)
    fragments = [manifests.fragment(0, old), manifests.fragment(1, versions.files(0))]
    early = {"file_format": "lance", "version": "0.1"}
    written = {"library": "lance", "version": "0.16.0"}
    mixed = versions.table(fragments=fragments, data_format=early, writer_version=written)

    with pytest.raises(SchemaRefused, match=r"a mixture .*Detected both 0\.1 and 2"):
        versions.after(mixed, reserve_fragments={"num_fragments": 1})


def test_the_stated_version_is_not_mistrusted():
    """D.table.writer-library: a version below 0.8.15 makes early readers open all indices."""
    made = versions.after(versions.table(1), delete={"deleted_fragment_ids": [0]})
    stated = made.message.writer_version

    assert "lanceref" == stated.library == WRITER.library
    assert (0, 8, 15) <= tuple(map(int, stated.version.split(".")))


CTX = Context("c")


def _opened(path):
    return open_snapshot(LocalStore(path), None, CTX).manifest


def test_a_shallow_clone_names_every_file_below_its_source(tmp_path):
    """Data, deletion and index files of a clone are in base 0, the source."""
    deleted = {"read_version": 2, "id": 9, "num_deleted_rows": 1}
    fragment = manifests.fragment(0, versions.files(0, 1, 2), deletion_file=deleted)
    held = versions.indexed(
        versions.table(version=5, fragments=[fragment], max_fragment_id=0),
        versions.index("x", 0, [0]),
    )
    clone = Transaction.Clone(is_shallow=True, ref_path="/src")
    size = write_clone(LocalStore(tmp_path), held, clone)
    made = _opened(tmp_path)
    one = made.message.fragments[0]

    assert (5, 0, "/src") == (made.version, *_base(made.message.base_paths))
    assert all(entry.HasField("base_id") for entry in (one.files[0], one.deletion_file))
    assert made.indices[0].HasField("base_id")
    clone = made.transaction.clone
    assert (True, 5, "/src") == (clone.is_shallow, clone.ref_version, clone.ref_path)
    assert size == (tmp_path / "_versions" / "18446744073709551610.manifest").stat().st_size


def _base(paths):
    (only,) = paths
    return only.id, only.path


def _replaced(number: int, *fields: int, **words: object) -> dict[str, object]:
    new = {**versions.files(*fields, path="n.lance"), "file_size_bytes": 7, **words}
    return {"fragment_id": number, "new_file": new}


LEGACY = {"file_major_version": 0, "file_minor_version": 2, "column_indices": []}
UNKNOWN = {"old_id": {"uuid": bytes(16)}, "new_id": {"uuid": bytes(16)}}
FIRST = manifests.fragment(0, versions.files(0))

REFUSED = [
    ("append", {"fragments": [manifests.fragment(0, {**versions.files(0), **LEGACY})]}, "mixed"),
    ("create_index", {"new_indices": [versions.index("x", 9, [0])]}, "no column"),
    ("data_replacement", {"replacements": [_replaced(9, 0)]}, "not found in existing"),
    ("data_replacement", {"replacements": [_replaced(0, 0), _replaced(1, 1)]}, "the same fields"),
    ("data_replacement", {"replacements": [_replaced(0, 1, **LEGACY)]}, "no changes were made"),
    ("data_replacement", {"replacements": [_replaced(0, 1), _replaced(0, 1)]}, "one for"),
    ("merge", {"fragments": [FIRST], "schema": versions.FIELDS}, r"fragments \[1\]"),
    ("append", {"fragments": [manifests.fragment(2**53, versions.files(0))]}, "no row addresses"),
    ("restore", {"version": 9}, "not found"),
    ("rewrite", {"groups": [versions.group([7], [8])]}, "incompatible"),
    ("rewrite", {"rewritten_indices": [UNKNOWN, UNKNOWN]}, "lists twice"),
    (
        "update_config",
        {"field_metadata_updates": {9: {"update_entries": [{"key": "f", "value": "3"}]}}},
        "Field with id 9",
    ),
]
"""Operations that do not fit a table of two fragments and three columns."""


@pytest.mark.parametrize(("name", "operation", "text"), REFUSED)
def test_an_operation_that_does_not_fit_is_refused(name, operation, text):
    """Missing fragments, fields, indices and versions are refused, and nothing is made."""
    refusals = (OperationRefused, SchemaRefused, CommitConflict, NotFound)
    with pytest.raises(refusals, match=text):
        versions.after(versions.table(), **{name: operation})


def test_row_ids_of_a_stable_table_fit_its_rows():
    """L.txn.op.rewrite: rewritten fragments bring their ids, and no fragment more than its rows."""
    with pytest.raises(OperationRefused, match="row ids"):
        versions.after(versions.stable(), rewrite={"groups": [versions.group([0], [8])]})
    many = manifests.fragment(0, versions.files(0), inline_row_ids=encode_row_ids(20, 31))
    with pytest.raises(OperationRefused, match="more row IDs"):
        versions.after(versions.stable(), append={"fragments": [many]})
