"""Names of manifest files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, NotFound, VersionNotFound
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import (
    TOP,
    find_version,
    list_versions,
    name_of,
    parse_name,
    write_hint,
)

CTX = Context("t")


def _store(tmp_path, *names):
    (tmp_path / "_versions").mkdir()
    for name in names:
        (tmp_path / "_versions" / name).write_bytes(b"")
    return LocalStore(tmp_path)


def _v2(version: int) -> str:
    return f"{TOP - version:020d}.manifest"


@pytest.mark.parametrize(
    ("name", "scheme", "version"),
    [
        ("1.manifest", "V1", 1),
        ("18446744073709551614.manifest", "V2", 1),
        ("18446744073709551615.manifest", "V2", 0),
        ("00000000000000000000.manifest", "V2", 2**64 - 1),
        ("d9223372036854775809.manifest", "detached", 2**63 + 1),
    ],
)
def test_a_name_says_its_version(name, scheme, version):
    """V1 counts up, V2 counts down in twenty digits, d marks a detached one."""
    parsed = parse_name(name)

    assert parsed is not None
    assert (scheme, version) == (parsed.scheme, parsed.version)
    assert f"_versions/{name}" == parsed.path


@pytest.mark.parametrize(
    "name",
    [
        "latest_version_hint.json",
        "18446744073709551614.manifest#1",
        ".tmpAbCd",
        "1.manifest-0f0e",
        ".manifest",
        "d.manifest",
        "-1.manifest",
        "x.manifest",
        "99999999999999999999.manifest",
        "١.manifest",
    ],
)
def test_what_is_left_over_is_no_manifest(name):
    """Staging litter, the hint, and numbers that are none."""
    assert parse_name(name) is None


@given(st.integers(0, 2**64 - 1))
def test_v2_names_sort_newest_first(version):
    """A name holds its version, and a larger version has a smaller name."""
    parsed = parse_name(_v2(version))

    assert parsed is not None and version == parsed.version
    assert version == 2**64 - 1 or _v2(version + 1) < _v2(version)


def test_the_latest_is_the_greatest_attached(tmp_path):
    """Neither litter, nor a hint, nor a detached version counts."""
    store = _store(
        tmp_path,
        _v2(1),
        _v2(10),
        _v2(9),
        f"{_v2(11)}#1",
        "latest_version_hint.json",
        f"d{2**63 + 99}.manifest",
    )

    assert [1, 9, 10] == [name.version for name in list_versions(store, CTX)]
    assert 10 == find_version(store, CTX, None).version
    assert 9 == find_version(store, CTX, 9).version
    assert 2**63 + 99 == find_version(store, CTX, 2**63 + 99).version


def test_v1_names_sort_by_number(tmp_path):
    """Ten comes after nine."""
    store = _store(tmp_path, "1.manifest", "9.manifest", "10.manifest")

    assert 10 == find_version(store, CTX, None).version


def test_two_schemes_in_one_table_are_refused(tmp_path):
    """Nobody knows which is newer."""
    store = _store(tmp_path, "1.manifest", _v2(2))
    with pytest.raises(FormatError) as caught:
        find_version(store, CTX, None)

    assert "L.table.naming.one-scheme" == caught.value.clause


@pytest.mark.parametrize("version", [3, 0, -1, 2**63 + 1])
def test_a_version_that_is_not_there_is_not_found(version, tmp_path):
    """As a ValueError and as an OSError, since pylance raises either."""
    store = _store(tmp_path, _v2(1), _v2(2))
    with pytest.raises(VersionNotFound) as caught:
        find_version(store, CTX, version)

    assert isinstance(caught.value, ValueError) and isinstance(caught.value, OSError)


def test_no_manifest_is_no_table(tmp_path):
    """An empty folder, and none."""
    with pytest.raises(NotFound):
        find_version(_store(tmp_path), CTX, None)
    with pytest.raises(NotFound):
        find_version(LocalStore(tmp_path / "none"), CTX, None)


@pytest.mark.parametrize(
    ("version", "scheme", "name"),
    [
        (1, "V1", "1.manifest"),
        (1, "V2", "18446744073709551614.manifest"),
        (2**63 + 1, "detached", "d9223372036854775809.manifest"),
    ],
)
def test_a_version_has_a_name_in_each_scheme(version, scheme, name):
    """The forms that are parsed above."""
    assert name == name_of(version, scheme).name


@pytest.mark.parametrize(("version", "scheme"), [(-1, "V2"), (2**63, "V1"), (1, "detached")])
def test_a_version_without_a_name_is_refused(version, scheme):
    """Below zero, or on the wrong side of the detached bit."""
    with pytest.raises(ValueError, match="has no"):
        name_of(version, scheme)


@given(st.integers(0, 2**63 - 1))
def test_names_parse_back(version):
    """For every attached version, in V2; in V1 below twenty digits too."""
    assert name_of(version, "V2") == parse_name(name_of(version, "V2").name)
    assert name_of(version, "V1") == parse_name(name_of(version, "V1").name)


def test_the_hint_is_a_small_json_object(tmp_path):
    """Without spaces and without a newline."""
    store = _store(tmp_path)
    write_hint(store, 12)

    assert b'{"version":12}' == (tmp_path / "_versions/latest_version_hint.json").read_bytes()


def test_a_hint_that_cannot_be_written_harms_nothing(tmp_path):
    """Here a folder lies in its place."""
    store = _store(tmp_path, "1.manifest")
    (tmp_path / "_versions/latest_version_hint.json").mkdir()
    write_hint(store, 1)

    assert 1 == find_version(store, CTX, None).version
