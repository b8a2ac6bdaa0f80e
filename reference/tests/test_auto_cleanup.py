"""Configuration of automatic clean-up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.auto_cleanup import cleanup_config, duration
from lanceref.errors import DataRefused


def test_what_is_not_said_has_a_default() -> None:
    """Every 20 versions, those older than two weeks; nothing without options."""
    keys = "lance.auto_cleanup.interval", "lance.auto_cleanup.older_than"
    assert cleanup_config(None) == {}
    assert cleanup_config({}) == dict(zip(keys, ("20", "14days"), strict=True))
    assert cleanup_config({"interval": 3, "older_than_seconds": 60})[keys[1]] == "1m"
    with pytest.raises(DataRefused, match="out of range"):
        cleanup_config({"older_than_seconds": -1})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (61, "1m 1s"),
        (90_061, "1day 1h 1m 1s"),
        (2_630_016, "1month"),
        (71_005_253, "2years 3months 5s"),
    ],
)
def test_durations_are_text(seconds: int, text: str) -> None:
    """Largest unit first, units of zero left out; long ones have a plural."""
    assert duration(seconds) == text


@given(st.integers(0, 10**10))
def test_no_second_is_lost(seconds: int) -> None:
    """The parts add up."""
    sizes = {"year": 31_557_600, "month": 2_630_016, "day": 86_400, "h": 3600, "m": 60, "s": 1}
    total = 0
    for part in duration(seconds).split():
        number = part.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = part.removeprefix(number)
        total += int(number) * sizes[unit if len(unit) == 1 else unit.rstrip("s")]
    assert total == seconds


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options", [{}, {"interval": 0}, {"interval": 7, "older_than_seconds": 3_000_001}]
)
def test_configurations_are_the_oracles(tmp_path, options: dict[str, int]) -> None:
    """In the table and in the transaction that made it; later writes change nothing."""
    import lance
    import pyarrow as pa
    from lanceref import dataset, write_dataset

    found = []
    for library, name in ((lance.write_dataset, "theirs"), (write_dataset, "ours")):
        root = str(tmp_path / name)
        library(pa.table({"a": [1]}), root, auto_cleanup_options=options)
        library(pa.table({"a": [1]}), root, mode="overwrite", auto_cleanup_options={"interval": 1})
        manifests = [dataset(root, version)._snapshot.manifest for version in (1, 2)]
        found.append([dict(one.message.config) for one in manifests])
        upserts = [dict(m.transaction.overwrite.config_upsert_values) for m in manifests]
        found[-1] += upserts
    assert found[0] == found[1]
