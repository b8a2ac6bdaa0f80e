"""The suite: canonical manifests, hashes, stored cases and copies of some cases."""

import hashlib
import json
import zipfile

import pytest
from lance_conformance import resources
from lance_conformance.suite import case_storage, subset, suite_file

CASE = "toy/any/read/columns"


def test_canonical_orders_keys_by_the_schema():
    """Keys come in the order of the schema at every depth, and the values stay."""
    manifest = {
        "kind": "lint",
        "id": "a",
        "expect": [{"findings": ["x"], "table": {"order": "any", "path": "ü"}}],
        "schema": 1,
    }
    text = suite_file.canonical_text(manifest)

    assert manifest == json.loads(text)
    assert ["schema", "id", "kind", "expect"] == list(json.loads(text))
    assert ["table", "findings"] == list(json.loads(text)["expect"][0])
    assert text == suite_file.canonical_text(json.loads(text))
    assert "ü" in text


def test_fresh_suite_verifies(toy_suite):
    """What was written just now has no problems, and counts its cases."""
    stored = json.loads((toy_suite / suite_file.SUITE).read_text())

    assert [] == suite_file.suite_problems(toy_suite)
    assert 3 == stored["counts"]["cases"]
    assert suite_file.tree_hash(toy_suite) == stored["tree_sha256"]


@pytest.mark.parametrize("name", ["data.lance", "case.json", "expect.arrow"])
def test_changed_file_is_found(toy_suite, name):
    """A changed byte of a published case is reported with its id."""
    path = toy_suite / CASE / name
    path.write_bytes(path.read_bytes().replace(b"title", b"words") + b"\n")

    assert f"{CASE}: published, and changed" in suite_file.suite_problems(toy_suite)


def test_renamed_case_is_found(toy_suite):
    """A file of another name is another suite."""
    (toy_suite / CASE / "data.lance").rename(toy_suite / CASE / "other.lance")

    assert f"{CASE}: published, and changed" in suite_file.suite_problems(toy_suite)


def test_notes_survive_writing(toy_suite):
    """Writing the file anew takes over the notes, which are written by hand."""
    path = toy_suite / suite_file.SUITE
    notes = {"HugeCount": {"bugType": "BOUNDS", "description": "", "effect": "", "links": []}}
    path.write_text(json.dumps({**json.loads(path.read_text()), "notes": notes}))
    suite_file.write_suite(toy_suite)

    assert notes == json.loads(path.read_text())["notes"]


DIGEST = hashlib.sha256(b"0123456789").hexdigest()
EDITED = hashlib.sha256(b"01xy56789!").hexdigest()
CHANGES = [{"at": 2, "remove": 3, "insert": "7879"}, {"at": 10, "remove": 0, "insert": "21"}]


def _case(root, name, files, **stored):
    home = root / f"a/b/c/{name}"
    home.mkdir(parents=True)
    case_input = {"uri": "dataset", "files": files}
    case = {"id": f"a/b/c/{name}", "input": case_input, "expect": []}
    text = json.dumps(case | ({"stored": stored} if stored else {}), indent=2) + "\n"
    (home / "case.json").write_text(text)
    return home


def _pack(home, **files):
    with zipfile.ZipFile(home / "files.zip", "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in files.items():
            pack.writestr(name, data)


def _edit(changes):
    return [{"file": "dataset/x", "of": DIGEST, "changes": changes}]


@pytest.fixture
def parent(tmp_path):
    """A packed case with one file of ten bytes."""
    home = _case(tmp_path, "parent", {"x": DIGEST})
    _pack(home, **{"dataset/x": b"0123456789"})
    return home


def test_a_packed_case_becomes_a_plain_folder(parent):
    """So does a path below it; what exists is returned as it is."""
    home = resources.fixtures() / "table/any/fragments/version-2-0"

    assert b"0123456789" == (case_storage.case_folder(parent) / "dataset/x").read_bytes()
    assert (home / "files.zip").is_file()
    assert not (home / "dataset").exists()
    assert case_storage.materialise(home / "dataset/_versions").is_dir()
    assert home / "case.json" != case_storage.materialise(home / "case.json")
    assert home / "files.zip" == case_storage.materialise(home / "files.zip")


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '{"id": 3, "stored": 4}'])
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    """A path below a folder with another `case.json` is no case of ours."""
    (tmp_path / "case.json").write_text(text)

    with pytest.raises(case_storage.LayoutError, match=r"case\.json"):
        case_storage.materialise(tmp_path / "dataset")


def test_a_case_is_bounded_as_a_whole(tmp_path):
    """Many names of one content are many files; a name is not a file and a folder."""
    content = bytes(2**20)
    home = _case(tmp_path, "wide", {str(n): hashlib.sha256(content).hexdigest() for n in range(65)})
    source = _case(tmp_path, "source", {})
    _pack(source, x=content)
    document = json.loads((home / "case.json").read_text())
    (home / "case.json").write_text(json.dumps({**document, "stored": {"from": ["a/b/c/source"]}}))
    with pytest.raises(case_storage.LayoutError, match="more than"):
        case_storage.read_case(home)

    both = _case(tmp_path, "both", {})
    _pack(both, a=b"1", **{"a/b": b"2"})
    with pytest.raises(case_storage.LayoutError, match="a file and a folder"):
        case_storage.read_case(both)


def test_files_are_taken_from_other_cases_and_edited(parent, tmp_path):
    """By their SHA-256, under any name; the manifest comes out without `stored`."""
    taken = _case(tmp_path, "taken", {"y": DIGEST}, **{"from": ["a/b/c/parent"]})
    edited = _case(
        tmp_path, "edited", {"x": EDITED}, **{"from": ["a/b/c/parent"], "edits": _edit(CHANGES)}
    )

    assert b"0123456789" == case_storage.read_case(taken)["dataset/y"]
    assert b"01xy56789!" == case_storage.read_case(edited)["dataset/x"]
    assert "stored" not in json.loads(case_storage.read_case(edited)["case.json"])


def test_rows_of_a_step_are_equal_to_a_file_that_is_kept(parent, tmp_path):
    """The manifest lists no hash of theirs; an edit without changes names the contents."""
    same = {"file": "input.arrow", "of": DIGEST, "changes": []}
    home = _case(tmp_path, "same", {}, **{"from": ["a/b/c/parent"], "edits": [same]})
    other = _case(
        tmp_path, "other", {}, **{"from": ["a/b/c/parent"], "edits": [{**same, "changes": CHANGES}]}
    )

    assert b"0123456789" == case_storage.read_case(home)["input.arrow"]
    with pytest.raises(case_storage.LayoutError, match="another hash"):
        case_storage.read_case(other)


@pytest.mark.parametrize(
    ("files", "stored", "message"),
    [
        ({"x": EDITED}, {"from": ["a/b/c/parent"]}, "no case of `from`"),
        ({"../../x": DIGEST}, {"from": ["a/b/c/parent"]}, "not a name inside"),
        ({"x": DIGEST}, {"from": ["../outside"]}, "not a name inside"),
        ({"x": DIGEST}, {"from": ["a/b/c/nowhere"]}, "no case"),
        ({"x": DIGEST}, {"from": ["a/b/c/parent"], "edits": _edit(CHANGES)}, "another hash"),
        ({"x": EDITED}, {"from": ["a/b/c/parent"], "edits": _edit(CHANGES[::-1])}, "in order"),
        (
            {"x": EDITED},
            {"from": ["a/b/c/parent"], "edits": _edit([{"at": 9, "remove": 2**40, "insert": ""}])},
            "in order",
        ),
    ],
)
def test_a_layout_that_cannot_be_followed_is_refused(parent, tmp_path, files, stored, message):
    """Missing contents, names that lead out, and edits past the end or with another hash."""
    home = _case(tmp_path, "hostile", files, **stored)

    with pytest.raises(case_storage.LayoutError, match=message):
        case_storage.read_case(home)


def test_a_link_in_the_place_of_another_case_is_not_followed(tmp_path):
    """Nor is a link in the place of a file."""
    (tmp_path / "fixtures/a/b/c").mkdir(parents=True)
    outside = _case(tmp_path, "outside", {"x": DIGEST})
    (tmp_path / "fixtures/a/b/c/link").symlink_to(outside)
    home = _case(tmp_path / "fixtures", "hostile", {"x": DIGEST}, **{"from": ["a/b/c/link"]})
    (home / "link").symlink_to(outside / "case.json")

    assert ["case.json"] == list(case_storage.own_files(home))
    with pytest.raises(case_storage.LayoutError, match="not below"):
        case_storage.read_case(home)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "c:x", "a\\x"])
def test_an_archive_keeps_to_its_folder(parent, name):
    """A member with such a name is refused before anything is written."""
    _pack(parent, **{name: b"1"})

    with pytest.raises(case_storage.LayoutError, match="not a name inside"):
        case_storage.case_folder(parent)


def test_an_archive_is_bounded(parent):
    """Too many bytes once unpacked, and bytes that are no archive."""
    _pack(parent, **{"dataset/x": bytes(2**26 + 1)})
    with pytest.raises(case_storage.LayoutError, match="more than"):
        case_storage.read_case(parent)
    (parent / "files.zip").write_bytes(b"PK")
    with pytest.raises(case_storage.LayoutError, match="not an archive"):
        case_storage.read_case(parent)


FULL = {"suite": "1", "cases": {"a": "1", "b": "2", "c": "3"}}
COUNTS = {"core": 2, "format": 2, "unstable": 1, "all": 3}


def test_a_subset_keeps_every_id_and_the_counts_of_the_whole(tmp_path):
    """Also when it is taken from a subset, whose own counts are lower."""
    first = subset.subset_document(FULL, ["b", "a"], COUNTS)
    second = subset.subset_document(first, ["a"], {"core": 1, "all": 1})
    (tmp_path / "SUITE.json").write_text(json.dumps(second))
    whole = subset.full_suite(tmp_path)

    assert ["a", "b"] == first["subset"]["ids"]
    assert [1, 3] == [second["subset"]["cases"], second["subset"]["of"]]
    assert (("a", "b", "c"), COUNTS, 1) == (whole.ids, whole.profiles, whole.num_cases)
