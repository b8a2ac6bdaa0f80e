"""UpdateConfig, UpdateBases and UpdateMemWalState."""

import pytest
from lanceref.core.errors import OperationRefused
from lanceref.proto import mem_wal_pb2, table_pb2

from tests.transactions import versions


def _edit(replace=False, **updates):
    entries = [{"key": k} if v is None else {"key": k, "value": v} for k, v in updates.items()]
    return {"update_entries": entries, "replace": replace}


def test_maps_are_edited_by_key():
    """A value sets, none takes out; the flag for config follows."""
    before = versions.table(config={"a": "1", "b": "2"}, writer_feature_flags=8)
    made = versions.after(before, update_config={"config_updates": _edit(a=None, c="3")})

    assert {"b": "2", "c": "3"} == dict(made.message.config)
    emptied = versions.after(made, update_config={"config_updates": _edit(b=None, c=None)})
    assert ({}, 0) == (dict(emptied.message.config), emptied.message.writer_feature_flags)


def test_a_map_can_be_replaced():
    """All of the four maps are separate."""
    before = versions.table(table_metadata={"a": "1"}, schema_metadata={"s": b"1"})
    given = {
        "table_metadata_updates": _edit(replace=True, z="9"),
        "schema_metadata_updates": _edit(t="2"),
        "field_metadata_updates": {1: _edit(f="3")},
    }
    made = versions.after(before, update_config=given)

    assert {"z": "9"} == dict(made.message.table_metadata)
    assert {"s": b"1", "t": b"2"} == dict(made.message.schema_metadata)
    assert [{}, {"f": b"3"}, {}] == [dict(one.metadata) for one in made.message.fields]


def test_a_field_that_does_not_exist_has_no_metadata():
    """OperationRefused, an OSError as with the oracle."""
    with pytest.raises(OSError, match="Field with id 9"):
        versions.after(
            versions.table(), update_config={"field_metadata_updates": {9: _edit(f="3")}}
        )


def test_bases_get_ids_of_their_own():
    """The next after the highest; a name or path there is already is refused."""
    base = {"name": "x", "path": "/x"}
    made = versions.after(versions.table(), update_bases={"new_bases": [base]})
    more = versions.after(made, update_bases={"new_bases": [{"path": "/y"}, {"path": "/z"}]})

    assert [1, 2, 3] == [one.id for one in more.message.base_paths]
    assert 16 == more.message.reader_feature_flags
    for twice in (base, {"path": "/x"}):
        with pytest.raises(OperationRefused, match="exists"):
            versions.after(made, update_bases={"new_bases": [twice]})


def test_the_log_remembers_what_is_in_the_table():
    """The newest generation of each shard; without an index of the log it is refused."""
    log = table_pb2.IndexMetadata(name="__lance_mem_wal")
    log.uuid.uuid = bytes(16)
    details = mem_wal_pb2.MemWalIndexDetails(num_shards=2)
    details.compacted_sstables.add(generation=4).shard_id.uuid = b"s" * 16
    log.index_details.Pack(details)
    before = versions.indexed(versions.table(), log)
    news = [
        {"shard_id": {"uuid": b"s" * 16}, "generation": 3},
        {"shard_id": {"uuid": b"t" * 16}, "generation": 1},
    ]
    made = versions.after(before, update_mem_wal_state={"compacted_sstables": news})
    held = mem_wal_pb2.MemWalIndexDetails()
    made.indices[0].index_details.Unpack(held)

    assert [4, 1] == [one.generation for one in held.compacted_sstables]
    assert 2 == held.num_shards
    with pytest.raises(OperationRefused):
        versions.after(versions.table(), update_mem_wal_state={"compacted_sstables": news})


def test_an_update_notes_what_it_took_in():
    """A generation after the one noted before; else, and without a log, it is refused."""
    log = table_pb2.IndexMetadata(name="__lance_mem_wal", dataset_version=1)
    log.uuid.uuid = bytes(16)
    details = mem_wal_pb2.MemWalIndexDetails()
    details.compacted_sstables.add(generation=4).shard_id.uuid = b"s" * 16
    log.index_details.Pack(details)
    before = versions.indexed(versions.table(), log)

    def noting(generation: int) -> dict[str, object]:
        return {"compacted_sstables": [{"shard_id": {"uuid": b"s" * 16}, "generation": generation}]}

    made = versions.after(before, update=noting(5))
    made.indices[0].index_details.Unpack(details)

    assert [5] == [one.generation for one in details.compacted_sstables]
    assert made.version == made.indices[0].dataset_version
    with pytest.raises(OperationRefused, match="proposed generation 4 is not greater"):
        versions.after(before, update=noting(4))
    with pytest.raises(OperationRefused, match="does not exist"):
        versions.after(versions.table(), update=noting(1))
