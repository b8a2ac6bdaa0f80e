"""The wheel: it carries the core cases, and nothing else of the fixtures."""

import json
import zipfile

from lance_conformance import cases
from sources import ROOT
from wheel_fixtures import TARGET, CoreFixtures, core, suite

FIXTURES = ROOT / "fixtures"
MAX_BYTES = 3_500_000


def test_the_core_is_what_the_runner_calls_core():
    """Told by manifests alone, as the profile `core` of `run` is."""
    every = [case for case in cases.load(FIXTURES) if case.is_active]
    found = list(core(ROOT))

    assert [case.folder for case in every if case.is_core] == found
    assert 500 < len(found) < len(every)


def test_what_a_wheel_includes_is_small(tmp_path):
    """Files by their names below the package, no hexmaps, under 3.5 MB; nothing when editable."""
    hook = CoreFixtures(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data = {"force_include": {}}
    hook.initialize("editable", data)
    assert {} == data["force_include"]
    hook.initialize("standard", data)
    included = data["force_include"]
    with zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in included:
            packed.write(path)

    assert f"{TARGET}/SUITE.json" in included.values()
    assert f"{TARGET}/file/2.1/miniblock/int32/data.lance" in included.values()
    assert not any(name.endswith(".hexmap") for name in included.values())
    assert (tmp_path / "packed").stat().st_size < MAX_BYTES


def test_the_suite_of_a_wheel_says_that_it_is_a_subset():
    """It keeps every hash, and tells how many cases each profile has without the wheel."""
    document = json.loads(suite(ROOT))
    subset = document["subset"]
    every = [case for case in cases.load(FIXTURES) if case.is_active]

    assert [len(list(core(ROOT))), len(every)] == [subset["cases"], subset["of"]]
    assert set(subset["ids"]) < set(document["cases"])
    assert sum(case.profile == "unstable" for case in every) == subset["profiles"]["unstable"] > 0
