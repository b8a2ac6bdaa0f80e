"""Packing: new cases get the layout of the fixtures, and stay what they are."""

from lance_conformance import stored, suite
from pack_fixtures import pack
from sources import ROOT

FILE = "file/2.1/miniblock/int32"
EDITED = "file/2.1/miniblock/neg-int32-num-levels"
TABLE = "table/any/fragments/version-2-0"
EDITED_TABLE = "table/any/fragments/neg-index-unknown"


def test_plain_folders_are_packed(tmp_path):
    """Files stay, tables are archives, negatives keep a manifest; the hash of all is the same."""
    for case_id in (FILE, EDITED, TABLE, EDITED_TABLE):
        for name, data in stored.read_case(ROOT / "fixtures" / case_id).items():
            path = tmp_path / case_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    before = suite.tree_hash(tmp_path)

    assert sorted([EDITED, TABLE, EDITED_TABLE]) == sorted(pack(tmp_path))
    assert before == suite.tree_hash(tmp_path)
    files = (path for path in tmp_path.rglob("*") if path.is_file())
    names = sorted(path.relative_to(tmp_path).as_posix() for path in files)
    assert [
        f"{FILE}/case.json",
        f"{FILE}/data.lance",
        f"{FILE}/expect.arrow",
        f"{EDITED}/case.json",
        f"{EDITED_TABLE}/case.json",
        f"{TABLE}/case.json",
        f"{TABLE}/files.zip",
    ] == names
    assert [] == pack(tmp_path)
