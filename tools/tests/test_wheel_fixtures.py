"""The wheel: it carries every case, and an editable installation none."""

from pathlib import Path

from lance_conformance import places, stored, suite
from sources import ROOT
from wheel_fixtures import TARGET, Fixtures, write_archive

MAX_BYTES = 3_000_000


def test_an_archive_of_the_fixtures_is_small(tmp_path):
    """One archive below the package; nothing when editable."""
    hook = Fixtures(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data = {"force_include": {}}
    hook.initialize("editable", data)
    assert {} == data["force_include"]
    hook.initialize("standard", data)
    ((path, inside),) = data["force_include"].items()

    assert inside == TARGET
    assert Path(path).stat().st_size < MAX_BYTES


def test_cases_out_of_the_archive_are_those_of_the_checkout(tmp_path, monkeypatch):
    """Every file of a table; the archive is unpacked once, and not again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    case = ROOT / "fixtures/table/any/deletions/arrow"
    fixtures = tmp_path / "fixtures"
    kept = fixtures / case.relative_to(ROOT / "fixtures")
    kept.mkdir(parents=True)
    for path in case.iterdir():
        (kept / path.name).write_bytes(path.read_bytes())
    suite.write(fixtures)
    write_archive(fixtures, tmp_path / "fixtures.tar.xz")
    found = places.unpacked(tmp_path / "fixtures.tar.xz")

    assert stored.read_case(case) == stored.read_case(found / kept.relative_to(fixtures))
    assert [] == suite.verify(found)
    assert found == places.unpacked(tmp_path / "fixtures.tar.xz")
