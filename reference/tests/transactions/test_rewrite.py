"""Rewrite and ReserveFragments."""

import pytest
from lanceref.core.errors import CommitConflict, OperationRefused
from lanceref.proto import table_pb2

from tests.table import manifests
from tests.transactions import versions


def test_reserved_ids_are_given_to_nobody_else():
    """Three are reserved after 1: the next append is 5."""
    reserved = versions.after(versions.table(), reserve_fragments={"num_fragments": 3})
    new = manifests.fragment(0, versions.files(0))

    assert (4, [0, 1]) == (reserved.message.max_fragment_id, versions.ids(reserved))
    assert [0, 1, 5] == versions.ids(versions.after(reserved, append={"fragments": [new]}))


def test_an_empty_table_reserves_from_0():
    """Without any fragment the highest id counts as -1."""
    empty = manifests.parse(manifests.minimal())
    made = versions.after(empty, reserve_fragments={"num_fragments": 2})

    assert 1 == made.message.max_fragment_id


def _group(old, new):
    return {
        "old_fragments": [manifests.fragment(n, versions.files(0)) for n in old],
        "new_fragments": [manifests.fragment(n, versions.files(0, 1, 2)) for n in new],
    }


def test_a_rewrite_uses_reserved_ids():
    """The new fragment lies in id order, not at the old ones' place."""
    before = versions.after(versions.table(3), reserve_fragments={"num_fragments": 1})
    made = versions.after(before, rewrite={"groups": [_group([0, 1], [3])]})

    assert [2, 3] == versions.ids(made)


def test_rewritten_indices_cover_the_new_fragments():
    """By address: the entry gets another uuid, and the details of the new files."""
    before = versions.indexed(versions.table(3), versions.index("x", 0, [0, 1, 2], 1))
    swapped = {
        "old_id": {"uuid": (1).to_bytes(16, "big")},
        "new_id": {"uuid": (2).to_bytes(16, "big")},
        "new_index_version": 3,
        "new_index_files": [{"path": "page", "size_bytes": 4}],
    }
    given = {"groups": [_group([0, 1], [3])], "rewritten_indices": [swapped]}
    made = versions.after(before, rewrite=given)

    assert {"x": [2, 3]} == versions.covers(made)
    assert (2).to_bytes(16, "big") == made.indices[0].uuid.uuid
    assert (3, "page") == (made.indices[0].index_version, made.indices[0].files[0].path)


def test_indices_by_row_id_cover_the_new_fragments_as_they_are():
    """Stable row ids: nothing is rewritten, every entry follows."""
    before = versions.indexed(versions.stable(3), versions.index("x", 0, [0, 1], 1))
    group = _group([0, 1], [3])
    ids = versions.stable().message.fragments[0].inline_row_ids
    group["new_fragments"][0]["inline_row_ids"] = ids
    made = versions.after(before, rewrite={"groups": [group]})

    assert {"x": [3]} == versions.covers(made)


def test_a_rewrite_of_what_is_gone_or_has_no_ids_is_refused():
    """L.txn.op.rewrite."""
    with pytest.raises(CommitConflict):
        versions.after(versions.table(), rewrite={"groups": [_group([7], [8])]})
    with pytest.raises(OperationRefused, match="row ids"):
        versions.after(versions.stable(), rewrite={"groups": [_group([0], [8])]})
    with pytest.raises(OperationRefused, match="does not exist"):
        unknown = {"old_id": {"uuid": bytes(16)}, "new_id": {"uuid": bytes(16)}}
        versions.after(versions.table(), rewrite={"rewritten_indices": [unknown]})


def test_the_reuse_index_goes_with_the_rewrite():
    """It takes the place of the one before."""
    reuse = table_pb2.IndexMetadata(name="__lance_frag_reuse")
    reuse.uuid.uuid = bytes(16)
    before = versions.indexed(versions.table(), versions.index("__lance_frag_reuse", 0, [], 5))
    made = versions.after(before, staged={"reuse_index": reuse}, rewrite={})

    assert [bytes(16)] == [one.uuid.uuid for one in made.indices]
