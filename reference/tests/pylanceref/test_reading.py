"""Scans, takes, orders and names of columns as with the oracle."""

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.dataset import ColumnOrdering
from tests.index.tables import write
from tests.operations.tables import column, table

TABLE = pa.table(
    {"i": range(10), "s": [str(i) for i in range(10)], "st": [{"a": i} for i in range(10)]}
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Three fragments, rows 1 and 5 deleted."""
    written = write(TABLE, tmp_path_factory.mktemp("reading"), max_rows_per_file=4)
    written.delete("i in (1, 5)")
    return written


def test_rows_by_position(dataset):
    """The first, some, a range; in any order and repeated."""
    assert [0, 2] == dataset.head(2)["i"].to_pylist()
    assert [6, 7] == dataset.head(2, filter="i > 4")["i"].to_pylist()
    assert [3, 4] == dataset.slice(2, 4)["i"].to_pylist()
    assert {"x": [5, 1, 5]} == dataset.take([3, 0, 3], {"x": "i + 1"}).to_pydict()
    assert {"x": [4, 1]} == dataset.get_fragment(0).take([2, 0], {"x": "i + 1"}).to_pydict()
    for start, end in ((-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="start"):
            dataset.slice(start, end)


def test_fragments_are_chosen(dataset):
    """Chosen fragments are scanned in the order in which they are given."""
    first, _, last = dataset.get_fragments()

    assert [8, 9, 0, 2, 3] == dataset.scanner(["i"], fragments=[last, first]).to_table()[
        "i"
    ].to_pylist()
    with pytest.raises(TypeError, match="LanceFragment"):
        dataset.scanner(fragments=[1])
    with pytest.raises(ValueError, match="filter"):
        dataset.get_fragments(filter="i > 1")


SCANS = [
    {},
    {"filter": "i > 3"},
    {"filter": "i > 3", "limit": 2, "offset": 1},
    {"filter": "st.a > 3", "columns": ["s"]},
    {"columns": ["st.a", "i"], "filter": "i % 2 = 0"},
    {"columns": [], "with_row_id": True, "limit": 3},
    {"columns": ["i", "_rowid"], "with_row_id": True},
    {"columns": ["_rowid", "i"], "with_row_id": True, "with_row_address": True},
    {"columns": ["_rowaddr", "i", "_row_created_at_version", "_row_last_updated_at_version"]},
    {"columns": ["_rowoffset"], "filter": "_rowoffset = 2"},
    {"columns": {"a": "i + 1", "b": "s", "c": "1", "d": "'x'", "e": "i = 3", "f": "null"}},
    {"columns": {"a": "upper(s)", "h": "_rowid", "o": "_rowoffset", "n": "st.a"}, "limit": 2},
    {"columns": {"a": "i"}, "with_row_id": True, "with_row_address": True, "filter": "i > 7"},
    {"columns": {"i": "i * 2"}, "filter": "i > 7"},
    {"columns": {}},
    {"columns": ["i", "i"]},
    {"columns": ["nope"]},
    {"columns": ["I"]},
    {"columns": "i"},
    {"columns": ("i",)},
    {"columns": {"a": "nope"}},
    {"columns": {"a": "i +"}},
    {"filter": "nope = 1"},
    {"filter": "i"},
    {"filter": "i / 0 = 1"},
    {"limit": 0},
    {"limit": -1},
    {"offset": -1},
    {"offset": 100},
    {"limit": 1.5},
    {"batch_size": 0},
    {"batch_readahead": 0},
    {"fragment_readahead": -1},
    {"blob_handling": "x"},
    {"order_by": ["i"], "limit": 3},
    {"order_by": ["nope"]},
    {"order_by": ["_rowid"]},
    {"order_by": [1]},
    {"include_deleted_rows": True},
    {"include_deleted_rows": True, "columns": ["i", "s", "_rowid", "_rowoffset"]},
    {"include_deleted_rows": True, "with_row_id": True, "columns": ["i"], "filter": "i < 3"},
    {"include_deleted_rows": True, "with_row_id": True, "limit": 3, "order_by": ["i"]},
    {"late_materialization": True, "filter": "i = 4"},
    {"late_materialization": False, "filter": "i = 4"},
    {"late_materialization": ["s"], "filter": "i = 4"},
    {"late_materialization": ["nope"], "filter": "i = 4"},
]


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.2"])
@pytest.mark.parametrize("stable", [False, True])
def test_scans_are_those_of_the_oracle(version, stable, tmp_path):
    """Columns, types, rows and their order; what it refuses is refused as the same class."""
    import lance
    from tests.sql.oracle_answers import scanned

    options = {"data_storage_version": version, "enable_stable_row_ids": stable}
    dataset = lance.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=4, **options)
    dataset.delete("i in (1, 5)")
    pairs = zip(
        SCANS,
        scanned(dataset, SCANS),
        scanned(pylanceref.dataset(tmp_path / "t"), SCANS),
        strict=True,
    )

    for scan, wanted, found in pairs:
        if isinstance(wanted, Exception):
            names = [kind.__name__ for kind in type(found).__mro__]
            assert type(wanted).__name__ in names, (scan, wanted, found)
        else:
            assert wanted == found, scan


@pytest.mark.oracle
def test_orders_are_those_of_the_oracle(tmp_path):
    """Each type, each direction, nulls and NaN at either end."""
    import lance
    from lance.dataset import ColumnOrdering as Theirs

    data = pa.table(
        {
            "f": [1.0, None, float("nan"), -1.0, float("inf")],
            "g": pa.array([2.5, float("nan"), None, -7.0, 0.5], pa.float32()),
            "s": ["b", None, "a", "", "\u00e9"],
            "b": [True, None, False, None, True],
            "d": pa.array([5, 3, None, 1, 2], pa.date32()),
            "n": [1, 1, 2, 2, None],
        }
    )
    theirs = lance.write_dataset(data, tmp_path / "t", max_rows_per_file=2)
    ours = pylanceref.dataset(tmp_path / "t")
    for name in "fgsd":
        for ascending in (True, False):
            for nulls_first in (True, False):
                given = (name, ascending, nulls_first)
                wanted = theirs.to_table(
                    order_by=[Theirs(*given)], filter=f"{name} is not null or n > 0"
                )
                found = ours.to_table(
                    order_by=[ColumnOrdering(*given)], filter=f"{name} is not null or n > 0"
                )
                assert str(wanted.to_pydict()) == str(found.to_pydict()), given
    two = [("n", False, True), ("s", True, False)]
    wanted = theirs.to_table(order_by=[Theirs(*one) for one in two])
    assert str(wanted.to_pydict()) == str(
        ours.to_table(order_by=[ColumnOrdering(*one) for one in two]).to_pydict()
    )


def test_a_sample_has_rows_of_the_table(tmp_path):
    """A sample has each of its rows once, in order if asked."""
    made = table(tmp_path)
    found = made.sample(5, ["a"], randomize_order=False)["a"].to_pylist()

    assert 5 == len(set(found) & set(column(made, "a")))
    assert found == sorted(found)


def test_rows_are_taken_by_id(tmp_path):
    """In the order asked for; ids of deleted rows and unknown ones are left out."""
    made = table(tmp_path, stable=True)

    assert [9, 0, 0] == made._take_rows([9, 0, 1, 0, 77], ["a"])["a"].to_pylist()
    pylanceref.dataset(tmp_path).delete("a < 2")
    made.truncate_table()  # it is made again after the delete
    assert 0 == len(made._take_rows([3]))


def test_a_table_says_what_is_wrong_with_it(tmp_path):
    """Nothing at first; then a file is missing, which is an OSError."""
    made = table(tmp_path)
    made.validate()
    next((tmp_path / "data").iterdir()).unlink()
    with pytest.raises(OSError, match=r"L\.table\.files\.exist"):
        made.validate()


def test_a_system_column_is_taken_as_often_as_asked(tmp_path):
    """A column of the table once."""
    made = pylanceref.write_dataset(pa.table({"a": range(4)}), tmp_path)
    taken = made.take([1, 2], columns=["a", "_rowid", "a", "_rowid"])
    assert ["a", "_rowid", "_rowid"] == taken.column_names
    assert [1, 2] == taken.column(2).to_pylist()


@pytest.mark.parametrize(("flags", "version"), [(0, "0.1"), (4, "2.2")])
def test_an_early_table_has_the_storage_version_that_new_files_get(tmp_path, flags, version):
    """Where it does not name it."""
    early = pylanceref.write_dataset(TABLE.slice(0, 0), tmp_path)
    message = early._snapshot.manifest.message
    message.ClearField("data_format")
    message.writer_feature_flags = flags

    assert version == early.data_storage_version


BELOW = pa.struct([("c", pa.int8()), ("e", pa.utf8())])
PARTS = {"a": pa.int16(), "b c": pa.int32(), "d`e": pa.utf8(), "b.c": pa.int8(), "b": BELOW}
"""Children with names that have to be put in backticks."""


def _with_parts(path, version, *, packed=False):
    rows = ((n, -n, str(n), 10 * n, {"c": n, "e": ""}) for n in range(6))
    values = pa.array([dict(zip(PARTS, row, strict=True)) for row in rows], pa.struct(PARTS))
    metadata = {"packed": "true"} if packed else None
    if packed:
        values = values.cast(pa.struct(list(PARTS.items())[: 5 if version == "2.2" else 2]))
    made = pa.schema([pa.field("st", values.type, not packed, metadata), ("x y", pa.int64())])
    table = pa.table([values, pa.array(range(6))], schema=made.with_metadata({"k": "v"}))
    return pylanceref.write_dataset(table, path, data_storage_version=version)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_parts_of_packed_structs_are_read(version, tmp_path):
    """By scans, takes and filters; the column is stored as one."""
    made = _with_parts(tmp_path / "t", version, packed=True)

    assert list(range(6)) == made.to_table(["st.a"])["st.a"].to_pylist()
    assert [{"b c": -4}, {"b c": -1}] == made.take([4, 1], ["st.`b c`"])["st"].to_pylist()
    assert [2, 3] == made.to_table(["st.a"], "st.a > 1 and st.`b c` > -4")["st.a"].to_pylist()
    assert version != "2.2" or [2] == made.to_table(["st.a"], "st.b.c = 2")["st.a"].to_pylist()


def test_rows_without_columns_are_counted(tmp_path):
    """Also where they are taken in another order, or given values that no column has."""
    made = _with_parts(tmp_path / "t", "2.1")

    assert 3 == made.take([4, 1, 1], []).num_rows
    assert ["q"] * 3 == made.take([4, 1, 1], {"a": "'q'"})["a"].to_pylist()


@pytest.mark.parametrize("column", ["st.b.c", "st.`b.c`"])
def test_a_point_in_a_name_is_none_between_names(column, tmp_path):
    """An index of one of the fields answers no question about the other."""
    made = _with_parts(tmp_path / "t", "2.1")
    made.create_scalar_index(column, "BTREE")
    assert [column] == made.describe_indices()[0].field_names
    assert [20] == made.to_table(["st.`b.c`"], "st.b.c = 2")["st.`b.c`"].to_pylist()
    assert [2] == made.to_table(["st.b.c"], "st.`b.c` = 20")["st.b.c"].to_pylist()


@pytest.mark.parametrize("name", ["st.`nope`", "`x y", "``", "st.``", "st.`b c`.a"])
def test_what_backticks_do_not_name(name, tmp_path):
    """Is not found; the oracle panics at some of these."""
    with pytest.raises(ValueError, match=r"No field named|has no field"):
        _with_parts(tmp_path / "t", "2.1").to_table([name])


@pytest.mark.oracle
@pytest.mark.parametrize(
    "columns",
    [
        ["st.`b c`", "`x y`"],
        ["st.`d``e`", "st.a"],
        ["`st`", "st.a"],
        ["`st`.`a`"],
        ["`x y`", "st.b.c", "st.a", "_rowid"],
        ["st.a", "`x y`", "st"],
        ["st.b.c", "st.`b.c`"],
        {"a": "st.`b c` + `x y`", "b": "_rowid"},
        {"a": "st"},
        ["_rowid", "st.a", "_rowaddr"],
    ],
)
def test_names_in_backticks_are_those_of_the_oracle(columns, tmp_path):
    """In scans and takes; what is computed keeps the metadata of the table."""
    import lance

    _with_parts(tmp_path / "t", "2.1")
    theirs, ours = lance.dataset(tmp_path / "t"), pylanceref.dataset(tmp_path / "t")
    for read in (lambda one: one.to_table(columns), lambda one: one.take([1, 3], columns)):
        try:
            wanted = read(theirs)
        except (ValueError, OSError) as error:
            with pytest.raises(type(error)):
                read(ours)
        else:
            assert wanted.equals(read(ours), check_metadata=True)


@pytest.mark.oracle
@pytest.mark.parametrize("columns", [["_rowoffset", "st.a"], {"at": "_rowoffset"}])
def test_an_offset_that_is_taken_is_never_null(columns, tmp_path):
    """One that is scanned may be."""
    import lance

    made = _with_parts(tmp_path / "t", "2.1")
    wanted = lance.dataset(tmp_path / "t").take([1, 3], columns).schema
    assert wanted == made.take([1], columns).schema
    assert not made.take([1], columns).schema.field(0).nullable
    assert made.to_table(columns).schema.field(0).nullable
