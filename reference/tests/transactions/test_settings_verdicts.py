"""Two updates of settings, as the oracle judges them."""

from __future__ import annotations

from itertools import product

import lanceref
import pyarrow as pa
import pylanceref
import pytest

EDITS = {
    "sets": ({"r": "1"}, False),
    "sets another": ({"q": "1"}, False),
    "deletes": ({"r": None}, False),
    "nothing": ({}, False),
    "replaces": ({"q": "1"}, True),
}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "edit", ["update_config", "update_metadata", "update_schema_metadata", "update_field_metadata"]
)
def test_the_oracle_judges_alike(tmp_path, edit):
    """Of every two edits of one kind, both or none is refused."""
    import lance

    refused = []
    for number, (theirs, ours) in enumerate(product(EDITS, EDITS)):
        verdicts = {
            library.__name__: _refuses(
                library, tmp_path / f"{library.__name__}{number}", edit, pair
            )
            for library, pair in (
                (one, (EDITS[theirs], EDITS[ours])) for one in (lance, pylanceref)
            )
        }
        assert verdicts["lance"] == verdicts["pylanceref"], (theirs, ours)
        refused.append(verdicts["lance"])
    assert any(refused)


def _refuses(library, path, edit, pair):
    """Whether the second of two edits, which has not read the first, is refused."""
    read = library.write_dataset(pa.table({"k": [1]}), str(path))
    for dataset, (values, replace) in zip((library.dataset(str(path)), read), pair, strict=True):
        given = {"k": values} if edit == "update_field_metadata" else values
        try:
            getattr(dataset, edit)(given, replace=replace)
        except (OSError, lanceref.core.errors.CommitConflict) as error:
            assert "incompatible" in str(error).lower(), str(error)
            return True
    return False
