"""Reading of tables: the faces of pylance, by hand and against it."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.dataset import ColumnOrdering

from .operations.tables import column, table
from .sql.written import without, write

TABLE = pa.table(
    {"i": range(10), "s": [str(i) for i in range(10)], "st": [{"a": i} for i in range(10)]}
)
LEFT = [0, 2, 3, 4, 6, 7, 8, 9]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Three fragments, rows 1 and 5 deleted."""
    written = write(TABLE, tmp_path_factory.mktemp("reading"), max_rows_per_file=4)
    return without(written, {0: [1], 1: [1]})


def test_rows_are_counted(dataset):
    """All that are left, or those that pass."""
    assert 8 == len(dataset) == dataset.count_rows()
    assert 4 == dataset.count_rows("i > 3 and i < 9")
    assert 2 == dataset.get_fragment(0).count_rows("i > 1")


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


def test_rows_are_drawn(dataset):
    """Each at most once; in order if asked."""
    drawn = dataset.sample(5, ["i"], randomize_order=False)["i"].to_pylist()

    assert drawn == sorted(set(drawn))
    assert set(drawn) <= set(LEFT)
    assert LEFT == sorted(dataset.sample(8)["i"].to_pylist())
    with pytest.raises(ValueError, match="larger"):
        dataset.sample(9)


def test_system_columns(dataset):
    """Wherever they are asked for, and in filters."""
    found = dataset.to_table(columns=["_rowoffset", "i", "_rowid"], filter="_rowoffset in (1, 4)")

    assert {"_rowoffset": [1, 4], "i": [2, 6], "_rowid": [2, (1 << 32) + 2]} == found.to_pydict()
    assert [3, 4] == dataset.get_fragment(1).to_table(["_rowoffset"])["_rowoffset"].to_pylist()[:2]


def test_deleted_rows_on_demand(dataset):
    """Their id is null; a filter asks them too."""
    found = dataset.to_table(
        ["i"], "i < 3", with_row_id=True, with_row_address=True, include_deleted_rows=True
    )

    assert [0, 1, 2] == found["i"].to_pylist()
    assert [0, None, 2] == found["_rowid"].to_pylist() == found["_rowaddr"].to_pylist()
    assert (
        4
        == dataset.get_fragment(0)
        .scanner(with_row_id=True, include_deleted_rows=True)
        .to_table()
        .num_rows
    )
    with pytest.raises(ValueError, match="with_row_id"):
        dataset.scanner(include_deleted_rows=True)


def test_fragments_are_chosen(dataset):
    """In the order given."""
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
    {"include_deleted_rows": True, "with_row_id": True},
    {
        "include_deleted_rows": True,
        "with_row_id": True,
        "columns": ["i"],
        "filter": "i < 3",
    },
    {"include_deleted_rows": True, "with_row_id": True, "limit": 3, "offset": 1},
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

    from .sql.oracle_answers import scanned

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


def test_filter_limit_and_offset_work_together(tmp_path):
    """The limit counts rows that passed."""
    made = table(tmp_path)

    assert [6, 7] == made.to_table(["a"], "a > 3", 2, 2)["a"].to_pylist()
    assert 6 == made.count_rows("a > 3")
    assert [5, 6] == made.get_fragments()[1].to_table(["a"], limit=2)["a"].to_pylist()
    assert 1 == made.get_fragments()[0].count_rows("a > 3")


def test_columns_can_be_computed(tmp_path):
    """By the name they have in the result, with row ids after."""
    made = table(tmp_path)
    found = made.to_table({"twice": "a * 2", "x": "s.x"}, "a > 7", with_row_id=True)

    assert {"twice": [16, 18], "x": [8, 9], "_rowid": [2**32 + 3, 2**32 + 4]} == found.to_pydict()


def test_rows_can_be_ordered(tmp_path):
    """Before the limit is counted; by a name or an ordering."""
    made = table(tmp_path)
    descending = [ColumnOrdering("a", ascending=False)]

    assert [9, 8] == made.to_table(["a"], limit=2, order_by=descending)["a"].to_pylist()
    assert [0, 2] == made.to_table(["a"], limit=2, order_by=["a"])["a"].to_pylist()


def test_a_sample_has_rows_of_the_table(tmp_path):
    """Each once."""
    made = table(tmp_path)
    found = made.sample(5, ["a"], randomize_order=False)["a"].to_pylist()

    assert 5 == len(set(found) & set(column(made, "a")))
    assert found == sorted(found)


def test_what_is_known_without_reading(tmp_path):
    """Length, ids, flags."""
    made = table(tmp_path, stable=True)

    assert (9, 4, True) == (len(made), made.max_field_id, made.has_stable_row_ids)


@pytest.mark.parametrize("argument", ["substrait_aggregate", "minhash"])
def test_a_search_that_is_not_there_is_an_unknown_argument(tmp_path, argument):
    """It is refused, not ignored."""
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{argument}'"):
        table(tmp_path).to_table(**{argument: {"column": "a"}})


def test_hints_change_nothing(tmp_path):
    """They are about how another reader works."""
    made = table(tmp_path)
    hints = {"prefilter": True, "use_stats": False, "batch_readahead": 4, "scan_in_order": True}

    assert made.to_table().equals(made.to_table(**hints))
    assert pa.types.is_int64(made.scanner({"k": "a"}).projected_schema.field("k").type)


def test_rows_are_taken_by_id(tmp_path):
    """In the order asked for; ids of deleted rows and unknown ones are left out."""
    made = table(tmp_path, stable=True)

    assert [9, 0, 0] == made._take_rows([9, 0, 1, 0, 77], ["a"])["a"].to_pylist()
    made.truncate_table()
    assert 0 == len(made._take_rows([3]))


def test_a_table_says_what_is_wrong_with_it(tmp_path):
    """Nothing at first; then a file is missing, which is an OSError."""
    made = table(tmp_path)
    made.validate()
    next((tmp_path / "data").iterdir()).unlink()
    with pytest.raises(OSError, match=r"L\.table\.files\.exist"):
        made.validate()


def test_scans_have_defaults(tmp_path):
    """Of the dataset; the call goes before them."""
    table(tmp_path)
    made = pylanceref.dataset(tmp_path, default_scan_options={"with_row_id": True})

    assert "_rowid" in made.to_table().schema.names
    assert "_rowid" not in made.to_table(with_row_id=False).schema.names
    assert "_rowid" not in pylanceref.dataset(tmp_path).to_table().schema.names


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


PARTS = pa.struct([("a", pa.int16()), ("b c", pa.int32()), ("d`e", pa.utf8())])
"""Children with names that have to be put in backticks."""


def _with_parts(path, version, *, packed=False):
    values = pa.array([{"a": n, "b c": -n, "d`e": str(n)} for n in range(6)], PARTS)
    metadata = {"packed": "true"} if packed else None
    if packed:
        values = values.cast(pa.struct([PARTS.field(0), PARTS.field(1)]))
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


def test_rows_without_columns_are_counted(tmp_path):
    """Also where they are taken in another order, or given values that no column has."""
    made = _with_parts(tmp_path / "t", "2.1")

    assert 3 == made.take([4, 1, 1], []).num_rows
    assert ["q"] * 3 == made.take([4, 1, 1], {"a": "'q'"})["a"].to_pylist()


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

    assert (
        lance.dataset(tmp_path / "t").take([1, 3], columns).schema == made.take([1], columns).schema
    )
    assert not made.take([1], columns).schema.field(0).nullable
    assert made.to_table(columns).schema.field(0).nullable
