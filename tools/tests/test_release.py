"""The files of a release."""

import hashlib
import json
import tarfile

import release
from lance_conformance import __version__, stored, suite
from sources import ROOT

CASES = "file/2.1/levels/l*"


def test_the_tarball_has_cases_schemas_and_protocol(tmp_path):
    """Plain files below a folder with the version in its name, as SUITE.json fixes them."""
    path = release.write_tarball(tmp_path, [CASES])
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / f"lance-conformance-suite-{__version__}"
    case = folder / "file/2.1/levels/list"
    files = {name.name for name in case.iterdir()}

    assert f"{folder.name}.tar.gz" == path.name
    assert {"case.json", "data.lance", "data.lance.hexmap", "expect.arrow", "expect.json"} == files
    assert "stored" not in json.loads((case / "case.json").read_text())
    assert (case / "data.lance").read_bytes() == stored.read_case(
        ROOT / "fixtures/file/2.1/levels/list"
    )["data.lance"]
    assert {"PROTOCOL.md", "README.md", "LICENSE", "register.json", "SUITE.json", "schemas"} <= {
        one.name for one in folder.iterdir()
    }
    assert {"case.schema.json", "protocol.schema.json", "report.schema.json"} == {
        one.name for one in (folder / "schemas").iterdir()
    }
    assert [] == suite.verify(folder)


def test_the_same_files_make_the_same_tarball(tmp_path):
    """Nothing of the machine or the hour is in it, and the checksums say so."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = (release.write_tarball(tmp_path / name, [CASES]) for name in "ab")
    digest = hashlib.sha256(one.read_bytes()).hexdigest()

    assert one.read_bytes() == other.read_bytes()
    assert f"{digest}  {one.name}\n" == release.write_checksums(tmp_path / "a").read_text()
