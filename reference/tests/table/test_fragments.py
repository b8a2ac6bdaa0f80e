"""Fragments and their data files."""

import pytest
from lanceref.core.errors import FormatError, UnknownVersion

from .manifests import data_file, fragment, minimal, parse

STRUCT = [
    {"name": "s", "id": 0, "parent_id": -1, "logical_type": "struct"},
    {"name": "x", "id": 1, "parent_id": 0, "logical_type": "int64"},
]
"""A struct `s` (field 0) of one field (1)."""


def _refused(clause: str, error=FormatError, **fields):
    with pytest.raises(error) as caught:
        parse(minimal(**fields))

    assert clause == caught.value.clause
    assert caught.value.place.size_bytes > 0
    return caught.value


def test_a_fragment_lists_columns_by_field_id():
    """A tombstone is passed over, hidden columns keep their ids."""
    file = data_file(fields=[0, -2, -3], column_indices=[1, 0, 2], base_id=7)
    manifest = parse(
        minimal(fragments=[fragment(3, file)], base_paths=[{"id": 7, "path": "x"}]),
    )

    (one,) = manifest.fragments
    assert (3, 10, 0, None) == (one.id, one.physical_rows, one.num_deleted, one.deletion_file)
    assert {0: 1, -3: 2} == one.files[0].columns
    assert (7, 0) == (one.files[0].base_id, one.files[0].size_bytes)


@pytest.mark.parametrize(
    ("words", "version"), [((0, 2), "0.1"), ((2, 0), "2.0"), ((0, 3), "2.0"), ((2, 3), "2.3")]
)
def test_version_words_are_read(words, version):
    """Two spellings of 2.0, and the legacy one."""
    file = data_file(file_major_version=words[0], file_minor_version=words[1])
    form = {"file_format": "lance", "version": version}
    manifest = parse(minimal(fragments=[fragment(0, file)], data_format=form))

    assert version == str(manifest.fragments[0].files[0].version)


def test_an_unknown_file_version_is_refused():
    """Words nobody knows."""
    file = data_file(file_minor_version=9)
    _refused("L.table.datafile.version", UnknownVersion, fragments=[fragment(0, file)])


def test_files_are_of_the_version_of_the_table():
    """Another 2.x version needs its flag; 0.1 never mixes."""
    files = [data_file(), data_file(path="g", fields=[1], file_minor_version=1)]
    both = {"reader_feature_flags": 256, "writer_feature_flags": 256}
    old = data_file(path="g", fields=[1], file_major_version=0, file_minor_version=2)

    _refused("L.table.datafile.version", fragments=[fragment(0, *files)])
    parse(minimal(fragments=[fragment(0, *files)], **both))
    _refused("L.table.datafile.version", fragments=[fragment(0, files[0], old)], **both)


@pytest.mark.parametrize(
    ("stated", "words", "taken"),
    [("0.1", (0, 3), True), ("0.1", (2, 0), True), ("0.1", (2, 1), False), ("2.1", (0, 3), False)],
)
def test_a_table_of_0_1_may_hold_nothing_but_files_of_2_0(stated, words, taken):
    """Release 0.16 stated the wrong version; no other pair was ever written."""
    file = data_file(file_major_version=words[0], file_minor_version=words[1])
    form = {"file_format": "lance", "version": stated}
    given = {"fragments": [fragment(0, file)], "data_format": form}
    if taken:
        assert "2.0" == str(parse(minimal(**given)).fragments[0].files[0].version)
    else:
        _refused("L.table.datafile.version", **given)


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        ({}, 90),
        ({"writer_version": None}, 0),
        ({"writer_version": None, "fragments": [fragment(0, data_file(), physical_rows=90)]}, 90),
    ],
)
def test_rows_left_are_no_rows(more, rows):
    """With a deletion file, a manifest without a writer leaves the rows to the files."""
    deletion = {"id": 1, "read_version": 1, "num_deleted_rows": 10}
    held = fragment(0, data_file(), physical_rows=90, deletion_file=deletion)
    manifest = parse(minimal(**{"fragments": [held], **more}))

    assert rows == manifest.fragments[0].physical_rows


@pytest.mark.parametrize("field", [-1, -6, -(2**31)])
def test_field_ids_are_known_or_reserved(field):
    """Only -2 and -3 to -5 are below 0."""
    file = data_file(fields=[field])
    _refused("L.table.datafile.field-id", fragments=[fragment(0, file)])


@pytest.mark.parametrize("indices", [[], [0, 1], [-1], [-7]])
def test_every_field_has_one_column(indices):
    """As many indices as fields; a leaf has a column."""
    file = data_file(column_indices=indices)
    _refused("L.table.datafile.indices", fragments=[fragment(0, file)])


def test_a_column_is_used_once():
    """Two fields in one column are refused."""
    file = data_file(fields=[0, 1], column_indices=[4, 4])
    _refused("L.table.datafile.indices", fragments=[fragment(0, file)])


def test_a_parent_without_a_column_may_be_listed():
    """From 2.1 on a struct has none: -1. In 2.0 it has one."""
    file = data_file(fields=[0, 1], column_indices=[-1, 0])
    manifest = parse(minimal(fields=STRUCT, fragments=[fragment(0, file)]))
    old = {**file, "file_minor_version": 0}
    form = {"file_format": "lance", "version": "2.0"}

    assert {1: 0} == manifest.fragments[0].files[0].columns
    _refused(
        "L.table.datafile.indices", fields=STRUCT, fragments=[fragment(0, old)], data_format=form
    )


@pytest.mark.parametrize(
    "files",
    [
        [data_file(), data_file(path="g")],
        [data_file(fields=[0, 0], column_indices=[0, 1])],
    ],
    ids=["two files", "one file"],
)
def test_a_field_lies_in_one_place(files):
    """Nobody knows which one counts."""
    _refused("L.table.datafile.once", fragments=[fragment(0, *files)])


def test_two_tombstones_are_no_field_twice():
    """-2 may stand anywhere."""
    files = [
        data_file(fields=[-2, 0, -2], column_indices=[0, 1, 2]),
        data_file(path="g", fields=[-2, 1], column_indices=[0, 1]),
    ]
    assert 2 == len(parse(minimal(fragments=[fragment(0, *files)])).fragments[0].files)


def test_fragment_ids_are_unique_ascending_and_below_the_greatest():
    """Each rule has its clause."""
    _refused("L.table.fragments.ids", fragments=[fragment(1), fragment(1)])
    _refused("L.table.fragments.order", fragments=[fragment(1), fragment(0)])
    _refused("L.table.fragments.max-id", fragments=[fragment(4)], max_fragment_id=3)
    parse(minimal(fragments=[fragment(0), fragment(4)], max_fragment_id=4))


@pytest.mark.parametrize("given", [{"number": 2**32}, {"physical_rows": 2**32}])
def test_a_row_address_holds_fragment_and_row(given):
    """32 bits each: sums and shifts of larger numbers would overflow."""
    _refused("L.table.fragments.address", fragments=[fragment(**given)])


def test_no_more_rows_are_deleted_than_there_are():
    """Eleven of ten."""
    deletion = {"num_deleted_rows": 11, "id": 1}
    _refused("L.table.deletions.count", fragments=[fragment(deletion_file=deletion)])


@pytest.mark.parametrize(
    "given",
    [
        fragment(0, data_file(base_id=3)),
        fragment(deletion_file={"num_deleted_rows": 1, "id": 1, "base_id": 3}),
    ],
    ids=["data file", "deletion file"],
)
def test_a_base_is_one_of_the_manifest(given):
    """Base 3 is not there."""
    error = _refused("L.table.base.resolves", fragments=[given], base_paths=[{"id": 1}])

    assert "base 3" in str(error.found)


def test_a_file_without_a_field_of_the_schema_is_reported():
    """A reader does not care; a file of hidden columns is fine."""
    findings = []
    parse(minimal(fragments=[fragment(0, data_file(fields=[5]))]), findings)
    assert ["L.table.datafile.no-field"] == [finding.clause for finding in findings]

    hidden = data_file(path="g", fields=[-3])
    parse(minimal(fragments=[fragment(0, data_file(), hidden)]), findings)
    assert 1 == len(findings)


@pytest.mark.parametrize("path", ["", "/f.lance", "../f.lance", "a/../../f", "a//b", "..\\f", "a/"])
def test_a_path_stays_in_its_folder(path):
    """Absolute, empty and climbing paths name files that are none of the table's."""
    _refused("L.table.datafile.path", fragments=[fragment(0, data_file(path=path))])


@pytest.mark.parametrize("path", ["f.lance", "a/f.lance", "..f.lance", "a..b"])
def test_dots_in_names_are_no_climbing(path):
    """Only a part that is `..` leads upward."""
    manifest = parse(minimal(fragments=[fragment(0, data_file(path=path))]))

    assert path == manifest.fragments[0].files[0].path
