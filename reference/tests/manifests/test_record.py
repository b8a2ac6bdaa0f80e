"""Record: where a manifest exists, and what its path must be."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import FormatError
from lanceref.storage.manifests.manifest_names import Record, name_of, parse_record, staged_record

FIRST = "_versions/18446744073709551614.manifest"


def test_a_staged_copy_has_the_name_and_a_uuid():
    """Its place is the name without."""
    staged = staged_record(name_of(1, "V2"), 7)

    assert re.fullmatch(
        re.escape(FIRST) + "-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", staged.path
    )
    assert staged.staged
    assert Record(1, FIRST, 7) == staged.placed() == staged.placed().placed()
    assert staged.path != staged_record(name_of(1, "V2"), 7).path


@given(st.integers(0, 2**63 - 1), st.sampled_from(["V1", "V2"]), st.booleans())
def test_a_record_is_kept_below_the_key(version, scheme, staged):
    """What is written there is what is read."""
    record = staged_record(name_of(version, scheme), 3)
    record = record if staged else record.placed()

    assert record == parse_record("a/b", version, f"a/b/{record.path}", 3)
    assert staged == record.staged


@pytest.mark.parametrize(
    "path",
    [
        "",
        FIRST,
        f"other/{FIRST}",
        f"key/../{FIRST}",
        "key/_versions/18446744073709551613.manifest",
        "key/_versions/18446744073709551613.manifest-x",
        "key/_versions/x",
        "key/_versions/-x",
        "key/_versions/a/18446744073709551614.manifest",
        "key/data/18446744073709551614.manifest",
        "key/18446744073709551614.manifest",
        "key/_versions/18446744073709551614.manifestx",
    ],
)
def test_another_path_is_refused(path):
    """It must be a manifest of the version below the table's key, staged or not."""
    with pytest.raises(FormatError) as refused:
        parse_record("key", 1, path, None)

    assert "L.txn.store.path" == refused.value.clause
    assert repr(path) in refused.value.found
