"""Definitions compared: real changes of the format, replayed, and small ones made here."""

from pathlib import Path

import pytest
from lance_conformance.gate import messages
from lance_conformance.gate.findings import Check, Colour
from lance_conformance.gate.trees import Tree

REPLAYS = Path(__file__).parent / "replays"

BROKEN = {
    "column-encoding-oneof": 6,
    "packed-struct-takes-9": 1,
    "fragment-reuse-groups": 3,
    "index-details-move": 6,
    **dict.fromkeys(("map-field-renamed", "max-fragment-id-optional", "mem-wal-merged"), 0),
    **dict.fromkeys(("variable-packed-struct", "storage-class-removed"), 0),
    **dict.fromkeys(("inline-transaction", "field-order"), 0),
}
"""Number of breaks by replay."""

ADDED = {
    "max-fragment-id-optional": [("lance.table.Manifest.max_fragment_id", "")],
    "mem-wal-merged": [("lance.table.MemWalIndexDetails.MemWal.State.MERGED", "")],
    "inline-transaction": [("lance.table.Manifest.transaction_section", messages.UNKNOWN_FIELD)],
    "storage-class-removed": [],
    "field-order": [],
}
"""Places of additions and their clauses, by replay."""

BEFORE = """syntax = "proto3";
package small;
message Held {
  uint32 a = 1;
  oneof which { uint32 b = 2; uint32 c = 3; }
  map<string, uint32> names = 4;
}
enum Kind { KIND_NONE = 0; KIND_ONE = 1; }
"""


def tree(folder: Path, text: str) -> Tree:
    """A tree with nothing but one `.proto` file."""
    folder.mkdir(exist_ok=True)
    (folder / "small.proto").write_text(text)
    return Tree(folder.name, folder)


def compare(tmp_path: Path, old: str, new: str) -> list[Check]:
    """The checks of `BEFORE` with one text replaced."""
    assert old in BEFORE
    changed = tree(tmp_path / "head", BEFORE.replace(old, new))
    return messages.check(tree(tmp_path / "base", BEFORE), changed)


@pytest.mark.parametrize("name", BROKEN)
def test_real_changes_are_judged_by_what_they_did_to_the_bytes(name):
    """Each replay has its number of breaks, all red, and the additions that were made."""
    folder = REPLAYS / name
    broken, added, spoken = messages.check(
        Tree("base", folder / "base"), Tree("head", folder / "head")
    )

    assert BROKEN[name] == len(broken.findings)
    assert {Colour.RED} >= {finding.colour for finding in broken.findings}
    assert {Colour.YELLOW} >= {finding.colour for finding in added.findings}
    if name in ADDED:
        assert ADDED[name] == [(f.place, f.clause) for f in added.findings]
    assert "the head has no specification" == spoken.skipped


def test_an_added_arm_names_the_clause_of_its_oneof():
    """A compression that a reader does not know: the clause on absent encodings speaks of it."""
    folder = REPLAYS / "variable-packed-struct"
    added = messages.check(Tree("base", folder / "base"), Tree("head", folder / "head"))[1]

    assert "L.codec.encoding.present" in {finding.clause for finding in added.findings}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("uint32 a = 1", "uint32 a = 7", "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED"),
        ("uint32 a = 1", "string a = 1", "FIELD_WIRE_COMPATIBLE_TYPE"),
        ("uint32 a = 1", "repeated uint32 a = 1", "FIELD_WIRE_COMPATIBLE_CARDINALITY"),
        ("uint32 c = 3; }", "} uint32 c = 3;", "FIELD_SAME_ONEOF"),
        ("KIND_ONE = 1", "KIND_ONE = 2", "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED"),
        ("map<string, uint32> names", "map<string, string> names", "FIELD_WIRE_COMPATIBLE_TYPE"),
        ("package small", "package large", "type URL"),
        ("message Held", "message Kept", "type URL"),
    ],
)
def test_each_wire_break_is_red(tmp_path, old, new, text):
    """Numbers, types, labels, oneofs, values, packages and names of roots are kept by bytes."""
    broken = compare(tmp_path, old, new)[0]

    assert any(text in finding.text for finding in broken.findings)
    assert Colour.RED == broken.colour


def test_additions_must_be_spoken_of(tmp_path):
    """A new field that no chapter names and no comment marks is red; either makes it green."""
    head = tmp_path / "head"
    verdicts = []
    for chapter, comment in (("", ""), ("`extra` counts", ""), ("", "// nonnormative: extra")):
        (head / "spec").mkdir(parents=True, exist_ok=True)
        (head / "spec" / "10-a.md").write_text(chapter)
        text = f"uint32 extra = 9; {comment}\n  uint32 a = 1"
        verdicts.append(compare(tmp_path, "uint32 a = 1", text)[2].colour)

    assert [Colour.RED, Colour.GREEN, Colour.GREEN] == verdicts


def test_definitions_that_do_not_compile_are_red(tmp_path):
    """The compiler's words reach the comment."""
    (check,) = compare(tmp_path, "uint32 a = 1", "uint32 a = ")

    assert Colour.RED == check.colour
    assert "small.proto" in check.findings[0].text
