"""Worked bytes: hex of a page is held against the bytes of a case."""

import json

import pytest
import worked_bytes

PAGE = """# Page

```hex file/2.1/a
0    0102 "ab"   two numbers and a text
6    ff ...      and what is not shown
     header      no offset
```

```hex table/a _versions/*.json
0    7b7d
```
"""


@pytest.fixture
def root(tmp_path):
    """A page and the cases that it shows."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "10.md").write_text(PAGE, "utf-8")
    for case, given in (("file/2.1/a", {"path": "data.lance"}), ("table/a", {"uri": "dataset"})):
        folder = tmp_path / "fixtures" / case
        (folder / "dataset" / "_versions").mkdir(parents=True)
        (folder / "case.json").write_text(json.dumps({"input": given}))
    (tmp_path / "fixtures/file/2.1/a/data.lance").write_bytes(b"\1\2abcd\xff\0")
    (tmp_path / "fixtures/table/a/dataset/_versions/x.json").write_bytes(b"{}")
    return tmp_path


def _findings(root):
    return [one.message for one in worked_bytes.check(root, root / "spec" / "10.md")]


def test_bytes_that_are_there_are_right(root):
    """Hex, quoted text, bytes that are not shown, and a file of a table by a glob."""
    assert [] == _findings(root)


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("0102", "0103", "at 0 are 01026162, not 01036162"),
        ('"ab"', '"ac"', "not 01026163"),
        ("6    ff", "7    ff", "at 7 are 00, not ff"),
        ("0102", "010", "neither offset nor hex"),
        ("file/2.1/a", "file/2.1/b", "no such bytes"),
        ("*.json", "*.txt", "0 files"),
    ],
)
def test_other_bytes_are_a_finding(root, old, new, finding):
    """A digit, a letter, an offset, a case that is not there."""
    page = root / "spec" / "10.md"
    page.write_text(PAGE.replace(old, new, 1), "utf-8")

    (message,) = _findings(root)

    assert finding in message


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ('2.1 string ["a", null, "bcd"]', "72   00000100 0000fefe 1000"),
        ("2.1 full-zip int32 [1, null]", "0    00 01000000 01 00000000 48"),
        ("2.0 int16[2] [[1, 2]] * 2 + [[3, 4]]", "0    01000200 01000200 03000400 48"),
        ("2.2 list<int8> [[5, 6], []]", "64   0300"),
        ("0.1 int32 [7]", "0    07000000"),
    ],
)
def test_a_block_shows_a_file_that_is_written(root, language, line):
    """The bytes of the file that the reference writes are there, and others are not."""
    page = root / "spec" / "10.md"
    page.write_text(f"```hex {language}\n{line}  what they mean\n```\n", "utf-8")
    assert [] == _findings(root)

    page.write_text(f"```hex {language}\n{line}ab  what they mean\n```\n", "utf-8")
    assert len(_findings(root)) == 1


ROW_5 = "01000000 02000000 12000000 3a300000 01000000 0000 0000 10000000"


@pytest.mark.parametrize(
    ("values", "data", "finding"),
    [
        ("roaring [1, 3]", "3a300000 01000000 0000 0100 10000000 0100 0300", None),
        ("roaring [1, 4]", "3a300000 01000000 0000 0100 10000000 0100 0300", "are [1, 3]"),
        ("row-ids [0, 1, 2]", "0a04 0a02 1003", None),
        ("row-ids [0, 1, 2]", "0a04 0a02 1004", "no such bytes"),
        ("row-versions [1] * 100", "0a08 0a04 0a02 1064 1001", None),
        ("row-versions [2] * 100", "0a08 0a04 0a02 1064 1001", "the bytes are"),
        ("row-addresses [[2, 5]]", f"{ROW_5} 0500", None),
        ("row-addresses [[3, null]]", "01000000 03000000 00000000", None),
        ("row-addresses []", "01000000 03000000 00000000", "the bytes are [[3, None]]"),
        ("row-addresses [[2, 5]]", f"{ROW_5} 05", "no such bytes"),
        ("2.1 integer [1]", "00", "no such bytes"),
    ],
)
def test_structures_of_tables_are_decoded(root, values, data, finding):
    """A structure is held against its values; one that does not end there, or no type, is found."""
    (root / "spec" / "10.md").write_text(f"```hex {values}\n0    {data}\n```\n", "utf-8")
    found = _findings(root)
    assert (not found) if finding is None else (finding in found[0] and len(found) == 1)
