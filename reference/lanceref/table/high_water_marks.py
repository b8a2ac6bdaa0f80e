"""High-water marks: the numbers a table has given out, so that none is given out again.

Fragment ids are never reused, nor field ids where flag 32 768 says so, also when what they named is
gone. The manifest keeps the highest of each. (Row ids have their own mark: see `identity`.)

Layout (message lance.table.Manifest): 11 max_fragment_id (absent: 0, or no fragment yet),
24 max_allocated_field_id.

Clauses: L.table.fragments.max-id-present, L.table.schema.max-id

Divergences: D.table.max-fragment-id-absent
"""

from __future__ import annotations

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2


def lint_marks(
    manifest: table_pb2.Manifest, schema: LanceSchema, ctx: Context, place: Place
) -> None:
    """Report marks that are missing, or below an id in use."""
    fragment = max((fragment.id for fragment in manifest.fragments), default=0)
    named = manifest.HasField("writer_version")  # earlier ones had no such field
    if fragment and named and not manifest.HasField("max_fragment_id"):
        ctx.lint(
            "L.table.fragments.max-id-present",
            place,
            found=f"fragment {fragment} and no max_fragment_id",
            wanted=f"{fragment} or more",
        )
    if not manifest.HasField("max_allocated_field_id"):
        return
    stored = {i for f in manifest.fragments for file in f.files for i in file.fields}
    highest = max(stored | {field.id for field in schema.flat()}, default=0)
    if highest > manifest.max_allocated_field_id:
        ctx.lint(
            "L.table.schema.max-id",
            place,
            found=f"field {highest}",
            wanted=f"ids up to max_allocated_field_id {manifest.max_allocated_field_id}",
        )
