"""Configuration of automatic clean-up."""

import time

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CleanupRefused, DataRefused
from lanceref.operations.cleanup import cleanup_config, duration, seconds_of


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
    from pylanceref import dataset, write_dataset

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


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0s", 0),
        ("1day 2h 3m 4s", 93_784),
        ("15 ms", 0.015),
        ("2M1d", 5_346_432),
        ("1y", 31_557_600),
    ],
)
def test_text_is_a_duration(text: str, seconds: float) -> None:
    """With or without spaces, in any order."""
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "5", "x", "1 fortnight", "1day x", f"{'1' * 5000}s", f"{'9' * 20} years"]
)
def test_other_text_is_none(text: str) -> None:
    """A unit is needed, and no more time than there is."""
    with pytest.raises(CleanupRefused):
        seconds_of(text)


SETTINGS = [
    ({"interval": "1", "older_than": "1ms"}, [4, 5]),
    ({"interval": "1", "retain_versions": "3"}, [3, 4, 5]),
    ({"interval": "2", "older_than": "0s"}, [3, 4, 5]),
    ({"interval": "3"}, [2, 3, 4, 5]),
    ({"interval": "x"}, [1, 2, 3, 4, 5]),
    ({"interval": "1", "older_than": "1day"}, [1, 2, 3, 4, 5]),
    ({"interval": "1", "older_than": "soon"}, [1, 2, 3, 4, 5]),
    ({"interval": "1" * 5000}, [1, 2, 3, 4, 5]),
    ({"older_than": "1ms"}, [1, 2, 3, 4, 5]),
]


def _left(module: object, root: str, settings: dict[str, str]) -> list[int]:
    """Return the versions that are left after four commits of different kinds."""
    rows = pa.table({"a": [1, 2, 3]})
    made = module.write_dataset(rows, root)  # type: ignore[attr-defined]
    made.update_config({f"lance.auto_cleanup.{key}": text for key, text in settings.items()})
    time.sleep(0.01)
    made.delete("a = 1")
    time.sleep(0.01)
    module.write_dataset(rows, root, mode="append")  # type: ignore[attr-defined]
    time.sleep(0.01)
    module.dataset(root).update({"a": "7"})  # type: ignore[attr-defined]
    return [one["version"] for one in made.versions()]


@pytest.mark.parametrize(("settings", "left"), SETTINGS)
def test_commits_remove_old_versions(tmp_path, settings: dict[str, str], left: list[int]) -> None:
    """The one that was read stays; settings that make no sense remove nothing."""
    assert left == _left(pylanceref, str(tmp_path), settings)


def test_a_tagged_version_stops_it(tmp_path) -> None:
    """The commit stays made."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 2, 3]}), tmp_path)
    made.tags.create("one", 1)
    time.sleep(0.01)
    made.update_config({"lance.auto_cleanup.interval": "1"})
    made.delete("a = 1")
    assert [1, 2, 3] == [one["version"] for one in made.versions()]


@pytest.mark.oracle
@pytest.mark.parametrize(("settings", "left"), SETTINGS)
def test_the_oracle_keeps_the_same(tmp_path, settings: dict[str, str], left: list[int]) -> None:
    """The versions of the table above."""
    import lance

    assert left == _left(lance, str(tmp_path), settings)
