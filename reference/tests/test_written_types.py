"""Every type, written by either side and read by both."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import NotStorable
from pylanceref import dataset, write_dataset
from pylanceref.file import LanceFileReader, LanceFileWriter

INTEGERS = [getattr(pa, f"{u}int{bits}")() for u in ("", "u") for bits in (8, 16, 32, 64)]
VALUES: dict[pa.DataType, list] = {
    pa.utf8(): ["a", "b"],
    pa.large_utf8(): ["a", "b"],
    pa.binary(): [b"a", b"b"],
    pa.int32(): [1, 2],
    pa.float16(): [1.0, 2.0],
    pa.bool_(): [True, False],
    pa.date32(): [1, 2],
    pa.timestamp("us", "UTC"): [1, 2],
    pa.decimal128(5, 2): [Decimal("1.00"), Decimal("2.00")],
    pa.binary(2): [b"aa", b"bb"],
    pa.list_(pa.int8()): [[1], [2]],
    pa.struct([("x", pa.int8())]): [{"x": 1}, {"x": 2}],
    pa.null(): [None, None],
    pa.list_(pa.int8(), 2): [[1, 2], [3, 4]],
    pa.list_(pa.struct([("x", pa.utf8())]), 1): [[{"x": "a"}], [{"x": "b"}]],
}
"""Two values of each type that lies inside others."""


class Own(pa.ExtensionType):
    """An extension type that nobody knows."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "my.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"p=1"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Own":
        return cls(storage)


def _dictionaries() -> Iterator[tuple[str, pa.Array]]:
    for key in INTEGERS:
        for type_, values in VALUES.items():
            if key == pa.int8() or type_ == pa.utf8():
                keys = pa.array([0, 1, None, 0], key)
                array = pa.DictionaryArray.from_arrays(keys, pa.array(values, type_))
                yield f"{type_} by {key}", array
    words = pa.array(["a", None, "c", "d"])
    for name, keys in (("null", [0, 1, 2]), ("unused", [3, 0])):
        yield f"{name} in dictionary", pa.DictionaryArray.from_arrays(pa.array(keys), words)
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], "utf8"))
    yield "empty dictionary", empty
    some = pa.DictionaryArray.from_arrays(pa.array([2], pa.int8()), words.drop_null())
    yield "empty dictionary last", pa.chunked_array([some, empty])
    many = [pa.array(map(str, range(at, at + 100))).dictionary_encode() for at in (0, 100)]
    yield "too many items", pa.chunked_array(one.cast(some.type) for one in many)
    yield "dictionary of nulls", pa.nulls(2, pa.dictionary(pa.int8(), pa.null()))


def _numbers() -> Iterator[tuple[str, pa.Array]]:
    decimals = [pa.decimal32(5, 2), pa.decimal64(10, 3), pa.decimal128(38, 10)]
    for type_ in [*decimals, pa.decimal256(60, 10), pa.decimal128(5, -2)]:
        yield str(type_), pa.array([Decimal("100"), None], type_)
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "+05:30", "Europe/Berlin", "no zone", "a:b"):
            type_ = pa.timestamp(unit, zone)
            yield str(type_), pa.array([1, None, -5], type_)
        yield f"duration {unit}", pa.array([1, None, -5], pa.duration(unit))
    for type_ in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date32()):
        yield str(type_), pa.array([1, None, 86000], type_)
    yield "date64", pa.array([86400000, None, 1], pa.date64())
    yield "interval", pa.array([None, (1, 2, 3)], pa.month_day_nano_interval())
    yield "half", pa.array(np.array([1, np.nan, -0.0], np.float16))


def _lists() -> Iterator[tuple[str, pa.Array]]:
    for size in (0, 1, 3):
        for type_, (value, _) in VALUES.items():
            found = pa.array([[value] * size, None, [value] * size], pa.list_(type_, size))
            yield f"{size} of {type_}", found
    for build in (pa.list_, pa.large_list, pa.list_view):
        yield build.__name__, pa.array([[1], None, [], [2, None]], build(pa.int8()))
    words = pa.array([0, 1, 0], pa.int8())
    items = pa.DictionaryArray.from_arrays(words, pa.array(["a", "b"]))
    yield "list of dictionaries", pa.ListArray.from_arrays(pa.array([0, 1, 3]), items)
    yield "nulls of wide text", pa.nulls(2, pa.list_(pa.large_utf8()))
    entries = [[("a", 1)], None, []]
    yield "map", pa.array(entries, pa.map_(pa.utf8(), pa.int8()))
    yield "sorted map", pa.array(entries, pa.map_(pa.utf8(), pa.int8(), keys_sorted=True))


def _others() -> Iterator[tuple[str, pa.Array]]:
    for type_ in (pa.utf8(), pa.large_utf8(), pa.string_view()):
        yield str(type_), pa.array(["a", None, "", "x" * 20], type_)
    for type_ in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(type_), pa.array([b"a", None, b"", b"x" * 20], type_)
    yield "nulls", pa.nulls(3)
    yield "no bytes", pa.array([b"", None], pa.binary(0))
    yield "empty structs", pa.array([{}, {}], pa.struct([]))
    yield "runs", pa.RunEndEncodedArray.from_arrays(pa.array([2, 3]), pa.array([1, None]))
    for names in (["a", "a"], ["a.b", "c"], ["", "c"]):
        children = [pa.array([1]), pa.array([2])]
        yield f"struct of {names}", pa.StructArray.from_arrays(children, names=names)


def _extensions() -> Iterator[tuple[str, pa.Array]]:
    made = pa.ExtensionArray.from_storage
    yield "uuid", made(pa.uuid(), pa.array([b"a" * 16, None], pa.binary(16)))
    pairs = pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))
    yield "tensor", made(pa.fixed_shape_tensor(pa.int8(), [2]), pairs)
    named = pa.fixed_shape_tensor(pa.int8(), [2, 1], dim_names=["a", "b"], permutation=[1, 0])
    yield "named tensor", made(named, pairs)
    yield "bool8", made(pa.bool8(), pa.array([1, None, 0], pa.int8()))
    yield "opaque", made(pa.opaque(pa.utf8(), "n", "v"), pa.array(["1", None]))
    texts = ['{"a":[1,2.5,null,"x"]}', None, "3"]
    for type_ in (pa.utf8(), pa.large_utf8()):
        yield f"json {type_}", made(pa.json_(type_), pa.array(texts, type_))
    yield "no json", made(pa.json_(pa.utf8()), pa.array(["{"]))
    items = made(pa.json_(pa.utf8()), pa.array(["{}", "[1]"]))
    yield "list of json", pa.ListArray.from_arrays(pa.array([0, 1, 2]), items)
    for type_, values in VALUES.items():
        if not pa.types.is_null(type_):
            yield f"own {type_}", made(Own(type_), pa.array([values[0], None], type_))


CASES = {
    **dict(_dictionaries()),
    **dict(_numbers()),
    **dict(_lists()),
    **dict(_others()),
    **dict(_extensions()),
}
FIELDS = {
    **{f"name {name!r}": pa.field(name, pa.int8()) for name in ("", "a.b", " ", "é日😀", 'a"b`c')},
    **{f"name {name!r}": pa.field(name, pa.int8()) for name in ("_rowid", "_rowoffset", "_score")},
    "metadata": pa.field("c", pa.int8(), metadata={"k": "v", "": "", "é": "日"}),
    "binary metadata": pa.field("c", pa.int8(), metadata={b"k": b"\xff"}),
    "extension name": pa.field("c", pa.int8(), metadata={"ARROW:extension:name": "who.knows"}),
    "never null": pa.field("c", pa.int8(), nullable=False),
    "key": pa.field("c", pa.int8(), False, {"lance-schema:unenforced-primary-key": "true"}),
    "key, null": pa.field("c", pa.int8(), True, {"lance-schema:unenforced-primary-key": "true"}),
    "position": pa.field(
        "c", pa.int8(), False, {"lance-schema:unenforced-primary-key:position": "x"}
    ),
    "id": pa.field("c", pa.int8(), metadata={"lance:field_id": "7"}),
    "no id": pa.field("c", pa.int8(), metadata={"lance:field_id": "x"}),
}
WRITTEN_UNREADABLE = {
    "too many items": ("0.1", "2.1", "2.2", "2.3"),
    "no bytes": ("0.1", "2.0", "2.1", "2.3"),
    "1 of struct<x: int8>": ("2.0",),
    "3 of struct<x: int8>": ("2.0",),
}
"""What the oracle writes but does not read, by version: refused here."""


def _tables() -> dict[str, pa.Table]:
    metadata = {"s": "m"}
    arrays = {
        name: pa.table([array], schema=pa.schema([pa.field("c", array.type)], metadata))
        for name, array in CASES.items()
    }
    fields = {
        name: pa.table([pa.array([1, 2], pa.int8())], schema=pa.schema([field], metadata))
        for name, field in FIELDS.items()
    }
    return {**arrays, **fields}


def _same(found: pa.Table, wanted: pa.Table) -> bool:
    if not found.schema.equals(wanted.schema, check_metadata=True):
        return False
    return found.equals(wanted) or str(found.to_pylist()) == str(wanted.to_pylist())


PANICS = [f"{size} of {name}" for size in (1, 3) for name in ("string", "large_string", "binary")]
"""What the oracle's writers end their thread over, but that of 2.0."""

PANICS_LEGACY = [
    f"{size} of {type_}"
    for size in (1, 3)
    for type_ in VALUES
    if "struct" in str(type_) or pa.types.is_null(type_)
] + [f"own {type_}" for type_ in VALUES if "list<item: struct" in str(type_)]


def _panics(name: str, version: str) -> bool:
    return (version == "0.1" and name in PANICS_LEGACY) or (version != "2.0" and name in PANICS)


REFUSALS = (OSError, RuntimeError, ValueError, pa.ArrowException)
Write = Callable[[pa.Table, str, str], object]
Read = Callable[[str], pa.Table]


def _file_ends(writer: type, reader: type) -> tuple[Write, Read]:
    def write(table: pa.Table, path: str, version: str) -> None:
        with writer(path, table.schema, version=version) as opened:
            opened.write_batch(table)

    return write, lambda path: reader(path).read_all().to_table()


def _table_ends(library: Callable, opened: Callable) -> tuple[Write, Read]:
    def write(table: pa.Table, path: str, version: str) -> None:
        library(table, path, data_storage_version=version)

    return write, lambda path: opened(path).to_table()


def _attempt(write: Write, table: pa.Table, path: Path, version: str) -> Exception | None:
    try:
        write(table, str(path), version)
    except REFUSALS as error:
        return error
    return None


def _found(read: Read, path: Path) -> pa.Table | None:
    try:
        return read(str(path))
    except REFUSALS:
        return None


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.1", "2.2", "2.3"])
@pytest.mark.parametrize("kind", ["table", "file"])
def test_every_type_goes_both_ways(tmp_path, kind, version):
    """What one side writes both read alike; what it refuses the other refuses too."""
    if (kind, version) == ("file", "0.1"):
        return
    import lance
    from lance.file import LanceFileReader as TheirReader
    from lance.file import LanceFileWriter as TheirWriter

    if kind == "table":
        their_write, their_read = _table_ends(lance.write_dataset, lance.dataset)
        our_write, our_read = _table_ends(write_dataset, dataset)
    else:
        their_write, their_read = _file_ends(TheirWriter, TheirReader)
        our_write, our_read = _file_ends(LanceFileWriter, LanceFileReader)
    wrong = []
    for number, (name, table) in enumerate(_tables().items()):
        theirs, ours = tmp_path / f"{number}t", tmp_path / f"{number}o"
        our_refusal = _attempt(our_write, table, ours, version)
        if _panics(name, version):
            assert our_refusal, name
            continue
        refusal = _attempt(their_write, table, theirs, version)
        if refusal or our_refusal or version in WRITTEN_UNREADABLE.get(name, ()):
            if our_refusal is None or (refusal is None and name not in WRITTEN_UNREADABLE):
                wrong.append(f"{name}: {refusal!r} / {our_refusal!r}")
            continue
        wanted = _found(their_read, theirs)
        read = [_found(our_read, theirs), _found(their_read, ours), _found(our_read, ours)]
        if wanted is None:
            wrong += [f"{name}: only ours is read"] if read[1] is not None else []
            continue
        wrong += [f"{name}: {one}" for one in read if one is None or not _same(one, wanted)]
    assert wrong == []


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
@pytest.mark.parametrize("name", PANICS)
def test_fixed_size_lists_are_of_fixed_size(tmp_path, name, version):
    """Fixed-size lists of variable-width items are refused by every page format."""
    with pytest.raises(NotStorable, match="fixed-size lists of"):
        write_dataset(pa.table({"c": CASES[name]}), tmp_path, data_storage_version=version)
