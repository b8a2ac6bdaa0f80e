"""A merge explained: what it does, one step a line (face).

The words for the steps are those of pylance; where an index finds the keys, neither explains.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from lanceref.core.errors import EditFailed
from lanceref.operations.merge import Actions, has_key_index
from lanceref.search.snapshot import Snapshot


def merge_explained(
    snapshot: Snapshot,
    keys: list[str],
    actions: Actions,
    conditions: Mapping[str, str],
    source: pa.Schema,
    use_index: bool,
) -> str:
    """Return the steps of a merge, the last one first. Raises EditFailed."""
    if use_index and has_key_index(snapshot, keys):
        raise EditFailed(
            "Not supported: This merge insert configuration does not support explain_plan: either "
            "the source schema is not one the plan path accepts, or the join takes the "
            "scalar-index execution path."
        )
    joined = "Full" if actions.delete_unmatched else "Right" if actions.insert else "Inner"
    on = ", ".join(f"({key}, {key})" for key in keys)
    steps = [
        f"MergeInsert: on=[{', '.join(keys)}], {_described(actions, conditions)}",
        f"  HashJoinExec: join_type={joined}, on=[{on}]",
        f"    LanceRead: projection=[{', '.join(keys)}], num_fragments={len(snapshot.fragments)}",
        f"    StreamingTableExec: projection=[{', '.join(source.names)}]",
    ]
    return "".join(f"{step}\n" for step in steps)


def _described(actions: Actions, conditions: Mapping[str, str]) -> str:
    """Name what becomes of the pairs and of the rest."""
    matched = "DoNothing"
    if actions.fail:
        matched = "Fail"
    elif actions.delete:
        matched = "Delete"
    elif actions.update:
        matched = f"UpdateIf({conditions['update']})" if conditions["update"] else "UpdateAll"
    by_source = "Keep"
    if actions.delete_unmatched:
        by_source = f"DeleteIf({conditions['delete']})" if conditions["delete"] else "Delete"
    inserted = "InsertAll" if actions.insert else "DoNothing"
    return (
        f"when_matched={matched}, when_not_matched={inserted}, "
        f"when_not_matched_by_source={by_source}"
    )
