"""The wheel: it carries every case, and an editable installation none."""

import zipfile

from sources import ROOT
from wheel_fixtures import TARGET, Fixtures

MAX_BYTES = 6_000_000
"""Goal for the whole wheel, of which the fixtures are most."""


def test_a_wheel_includes_the_fixtures_and_stays_small(tmp_path):
    """The folder as it is, packed in less than the goal; nothing when editable."""
    hook = Fixtures(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data = {"force_include": {}}
    hook.initialize("editable", data)
    assert {} == data["force_include"]
    hook.initialize("standard", data)
    assert {str(ROOT / "fixtures"): TARGET} == data["force_include"]
    with zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in (ROOT / "fixtures").rglob("*"):
            packed.write(path, path.relative_to(ROOT))

    assert (tmp_path / "packed").stat().st_size < MAX_BYTES
