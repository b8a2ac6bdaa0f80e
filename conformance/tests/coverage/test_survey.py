"""The survey counts what occurs in the fixtures."""

import pytest
from lance_conformance import cases, places
from lance_conformance.coverage import survey as surveys
from lance_conformance.coverage.excused import EXCUSES, excuse

_UNMADE = "no case has such an index yet"

GAPS: dict[str, tuple[tuple[str, ...], str]] = {
    "fields of mem_wal.proto": (
        (
            "MemWalIndexDetails.snapshot_ts_millis",
            "MemWalIndexDetails.num_shards",
            "MemWalIndexDetails.inline_snapshots",
            "MemWalIndexDetails.sharding_specs",
            "MemWalIndexDetails.maintained_indexes",
            "MemWalIndexDetails.compacted_sstables",
            "MemWalIndexDetails.index_catchup",
            "MemWalIndexDetails.writer_config_defaults",
            "MemWalIndexDetails.maintain_all_indexes",
            "IndexCatchupProgress.index_name",
            "IndexCatchupProgress.caught_up_generations",
            "ShardingSpec.spec_id",
            "ShardingSpec.fields",
            "ShardingField.field_id",
            "ShardingField.source_ids",
            "ShardingField.transform",
            "ShardingField.expression",
            "ShardingField.result_type",
            "ShardingField.parameters",
            "ShardManifest.version",
            "ShardManifest.writer_epoch",
            "ShardManifest.replay_after_wal_entry_position",
            "ShardManifest.wal_entry_position_last_seen",
            "ShardManifest.current_generation",
            "ShardManifest.sstables",
            "ShardManifest.shard_spec_id",
            "ShardManifest.shard_id",
            "ShardManifest.shard_field_entries",
            "ShardManifest.status",
            "SsTable.generation",
            "SsTable.path",
            "SsTable.in_memory_bytes",
            "SsTable.physical_rows",
            "SsTable.primary_key_bytes",
            "ShardFieldEntry.field_id",
            "ShardFieldEntry.value",
        ),
        _UNMADE,
    ),
    "values of ShardManifest.ShardStatus in mem_wal.proto": (("ACTIVE", "SEALED"), _UNMADE),
}
"""By axis: members that could occur in a fixture and do not, and why they do not."""


@pytest.fixture(scope="module")
def found():
    """The survey of the fixtures of this checkout."""
    return surveys.survey(cases.load(places.fixtures()))


def test_every_byte_has_an_owner(found):
    """No range of any file that is to be read is left over."""
    assert {} == found.unowned
    assert found.num_bytes > 900_000


def test_refused_cases_count_apart(found):
    """A compressed flat buffer is in a file to refuse and in none to read."""
    fact = ("fields of encodings_v2_1.proto", "Flat.data")

    assert 0 == found.read[fact]
    assert found.refused[fact] > 0


def test_what_never_occurs_is_listed_with_a_reason(found):
    """A new member without a case, a case that is gone, and a gap that has closed are noticed."""
    gaps = {
        axis: tuple(
            member
            for member in members
            if not found.read[axis, member] and excuse((axis, member)) is None
        )
        for axis, members in surveys.axes().items()
    }
    listed = {axis: members for axis, (members, _) in GAPS.items()}

    assert listed == {axis: members for axis, members in gaps.items() if members}
    assert all(reason for _, reason in GAPS.values())


def test_no_excuse_is_stale(found):
    """What is excused never occurs, and is a member of some axis."""
    axes = surveys.axes()
    every = [(axis, member) for axis, members in axes.items() for member in members]
    stale = [one for one in EXCUSES if any(found.read[fact] and one.holds(fact) for fact in every)]
    empty = [one for one in EXCUSES if not any(map(one.holds, every))]

    assert [] == stale
    assert [] == empty


def test_damage_ends_no_survey():
    """Files that are to be refused are explained as far as they go."""
    refused = [case for case in cases.load(places.fixtures()) if case.is_negative]
    some = surveys.survey(refused[:40])

    assert 0 == some.num_files
    assert some.refused.total() > 1000
