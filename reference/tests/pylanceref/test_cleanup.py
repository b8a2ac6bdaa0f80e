"""Cleanup of old versions, asked for or automatic."""

import os
import time
from datetime import timedelta

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import OperationRefused
from lanceref.operations.cleanup import duration, seconds_of

NOW = timedelta(0)
DAYS = 24 * 3600


@pytest.fixture
def table(tmp_path):
    """Three versions, each with other rows."""
    for number in range(3):
        made = pylanceref.write_dataset(pa.table({"a": [number]}), tmp_path, mode="overwrite")
    return made


def _versions(table):
    return [one["version"] for one in table.version_refs()]


def _files(path):
    return {one.name for one in path.glob("data/*")}


def test_tags_and_branches_keep_what_they_name(table, tmp_path):
    """A tag is an error unless the caller says otherwise; a branch keeps quietly."""
    table.tags.create("first", 1)
    branch = table.create_branch("dev", 2)
    with pytest.raises(OperationRefused, match="1 tagged"):
        table.cleanup_old_versions(NOW)
    assert [1, 2, 3] == _versions(table)

    stats = table.cleanup_old_versions(NOW, error_if_tagged_old_versions=False)
    assert 0 == stats.old_versions
    assert 3 == len(_files(tmp_path))
    table.tags.delete("first")
    assert 1 == table.cleanup_old_versions(NOW).old_versions
    assert [1] == branch.to_table()["a"].to_pylist()


def test_a_branch_that_was_deleted_is_not_cleaned_up(tmp_path, maker):
    """Another below it keeps its folder, so that it can be opened."""
    uri = str(tmp_path)
    maker.write_dataset(pa.table({"a": [1]}), uri).create_branch("dev/two")
    maker.dataset(uri).create_branch("dev")
    maker.dataset(uri).branches.delete("dev")
    opened = maker.dataset(uri).checkout_version(("dev", None))

    assert 1 == opened.count_rows()
    with pytest.raises((OSError, ValueError), match="branch dev does not exist"):
        opened.cleanup_old_versions()


def test_files_of_a_commit_on_its_way_stay(table, tmp_path):
    """A file that no version names goes when it is a week old, or when nobody else writes."""
    for name, days in (("young.lance", 6), ("old.lance", 8)):
        path = tmp_path / "data" / name
        path.write_bytes(b"x")
        os.utime(path, (time.time() - days * DAYS,) * 2)
    stats = table.cleanup_old_versions()

    assert (0, 1) == (stats.old_versions, stats.data_files_removed)
    assert "young.lance" in _files(tmp_path)
    assert 1 == table.cleanup_old_versions(delete_unverified=True).data_files_removed


def test_detached_versions_keep_their_files(table, tmp_path):
    """They are in no line of versions, and still readable."""
    data = pylanceref.fragment.write_fragments(pa.table({"a": [7]}), tmp_path)
    append = pylanceref.LanceOperation.Append(data)
    apart = pylanceref.LanceDataset.commit(tmp_path, append, read_version=3, detached=True)
    table.cleanup_old_versions(NOW, delete_unverified=True)

    assert [2, 7] == pylanceref.dataset(tmp_path, apart.version).to_table()["a"].to_pylist()


def test_what_interrupted_writes_left_goes(table, tmp_path):
    """Temporary names and branches without an entry, if they are old or nobody else writes."""
    table.create_branch("dev")
    (tmp_path / "_refs" / "branches" / "dev.json").unlink()
    (tmp_path / "_versions" / ".tmpx").write_bytes(b"x")
    with pytest.raises(OperationRefused, match="interrupted"):
        table.create_branch("dev")
    table.cleanup_old_versions()
    assert (tmp_path / "tree" / "dev").exists()

    table.cleanup_old_versions(delete_unverified=True)
    assert not (tmp_path / "tree").exists()
    assert not list(tmp_path.glob("_versions/.*"))
    assert [2] == table.create_branch("dev").to_table()["a"].to_pylist()


@given(st.integers(0, 10**10))
def test_no_second_is_lost(seconds):
    """A duration as text is read as its seconds."""
    assert seconds == seconds_of(duration(seconds))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options", [{}, {"interval": 0}, {"interval": 7, "older_than_seconds": 3_000_001}]
)
def test_configurations_are_the_oracles(tmp_path, options):
    """In the table and in the transaction that made it; later writes change nothing."""
    import lance

    found = []
    for library, name in ((lance.write_dataset, "theirs"), (pylanceref.write_dataset, "ours")):
        root = str(tmp_path / name)
        library(pa.table({"a": [1]}), root, auto_cleanup_options=options)
        library(pa.table({"a": [1]}), root, mode="overwrite", auto_cleanup_options={"interval": 1})
        manifests = [pylanceref.dataset(root, version)._snapshot.manifest for version in (1, 2)]
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
def test_text_is_a_duration(text, seconds):
    """With or without spaces, in any order."""
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "5", "x", "1 fortnight", "1day x", f"{'1' * 5000}s", f"{'9' * 20} years"]
)
def test_other_text_is_none(text):
    """A unit is needed, and no more time than there is."""
    with pytest.raises(OperationRefused):
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
def test_commits_remove_old_versions(tmp_path, maker, settings, left):
    """The one that was read stays; settings that make no sense remove nothing."""
    assert left == _left(maker, str(tmp_path), settings)


def test_young_versions_stay(table):
    """Two weeks by default; as many as are to be retained; those that are not listed."""
    assert 0 == table.cleanup_old_versions().old_versions
    assert 0 == table.cleanup_old_versions(versions=[7]).old_versions
    assert 1 == table.cleanup_old_versions(retain_versions=2).old_versions
    assert [2, 3] == _versions(table)
    with pytest.raises(ValueError, match="greater than 0"):
        table.cleanup_old_versions(retain_versions=0)
