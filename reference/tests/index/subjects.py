"""Every scalar index type: a table that it is built over, and conditions that it answers."""

from __future__ import annotations

import datetime
import decimal
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import shapely
from pylanceref.indices import IndexConfig

from .tables import QUESTIONS

ROWS = 120
"""Rows of each table."""


@dataclass(frozen=True)
class Subject:
    """An index type with its parameters, a table, and the conditions of each of its columns."""

    kind: str
    table: pa.Table
    conditions: Mapping[str, Sequence[str]]
    parameters: Mapping[str, object] = field(default_factory=dict)
    always_asked: bool = True
    """Whether every single condition asks an index; types that only rule out zones may be passed
    over."""
    stable_ids: bool = True
    """Whether the type can be built over a table with stable row ids."""

    def config(self, of: type = IndexConfig) -> IndexConfig:
        """Return what is asked for, as a class of either library."""
        name = self.kind if of is IndexConfig else self.kind.replace("_", "")
        return of(name, dict(self.parameters))

    def half(self, second: bool) -> Subject:
        """Return the same over every second column, where there are many."""
        if len(self.conditions) < 8:
            return self
        names = self.table.column_names[second::2]
        own = {name: self.conditions[name] for name in names}
        return replace(self, table=self.table.select(names), conditions=own)

    def questions(self, part: int = 0, parts: int = 1) -> list[str]:
        """Return one in `parts` of the conditions, and some that join conditions of a column."""
        source = random.Random(f"{self.kind} {part}")
        found = [one for every in self.conditions.values() for one in every[part::parts]]
        for _ in range(QUESTIONS // 10):
            first, second = source.choices(source.choice([*self.conditions.values()]), k=2)
            joined = f"({first}) {source.choice(['and', 'or'])} ({second})"
            found.append(f"not ({joined})" if source.random() < 0.2 else joined)
        return found


def _drawn(values: Sequence[object], type_: pa.DataType, seed: str) -> pa.Array:
    """Return values of a few, one in ten null."""
    source = random.Random(seed)
    chosen = [None if source.random() < 0.1 else source.choice(values) for _ in range(ROWS)]
    return pa.array(chosen, type_)


def _values() -> dict[str, tuple[Sequence[object], pa.DataType]]:
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
    days = [day + datetime.timedelta(days=n) for n in range(-3, 3)]
    moments = [moment + datetime.timedelta(seconds=n) for n in range(-3, 3)]
    spans = [datetime.timedelta(seconds=n) for n in range(-3, 3)]
    times = [datetime.time(1, 2, n) for n in range(6)]
    money = [decimal.Decimal(n) / 4 for n in range(-3, 3)]
    words = ["", "a", "ab", "b", "é", "zz", "Ω"]
    floats = [float("-inf"), -1.5, -0.0, 0.0, 0.25, 2.0, float("inf"), float("nan")]
    return {
        "int8": ([-128, -1, 0, 5, 127], pa.int8()),
        "uint8": ([0, 5, 255], pa.uint8()),
        "int16": ([-300, 0, 5], pa.int16()),
        "uint16": ([0, 5, 65535], pa.uint16()),
        "int32": ([-9, 0, 5, 2**31 - 1], pa.int32()),
        "uint32": ([0, 5, 2**32 - 1], pa.uint32()),
        "int64": ([-(2**62), 0, 5, 2**63 - 1], pa.int64()),
        "uint64": ([0, 5, 2**64 - 1], pa.uint64()),
        "float16": ([np.float16(one) for one in floats], pa.float16()),
        "float32": (floats, pa.float32()),
        "float64": (floats, pa.float64()),
        "bool": ([False, True], pa.bool_()),
        "utf8": (words, pa.utf8()),
        "large_utf8": (words, pa.large_utf8()),
        "binary": ([word.encode() for word in words], pa.binary()),
        "large_binary": ([word.encode() for word in words], pa.large_binary()),
        "fixed": ([b"abc", b"abd", b"zzz"], pa.binary(3)),
        "date32": (days, pa.date32()),
        "date64": (days, pa.date64()),
        "time32": (times, pa.time32("s")),
        "time64": (times, pa.time64("us")),
        "timestamp": (moments, pa.timestamp("us")),
        "zoned": (moments, pa.timestamp("ms", "UTC")),
        "duration": (spans, pa.duration("s")),
        "decimal128": (money, pa.decimal128(10, 2)),
        "decimal256": (money, pa.decimal256(40, 2)),
    }


COLUMNS = {name: _drawn(*given, name) for name, given in _values().items()}
"""Columns of every type that can be compared, by the name of the type."""


def _literal(value: pa.Scalar) -> str | None:
    """Return a value as it is written in SQL, None when it cannot be."""
    held, type_ = value.as_py(), value.type
    if pa.types.is_date(type_):
        return f"date '{held}'"
    if pa.types.is_timestamp(type_):
        return f"timestamp '{held.replace(tzinfo=None)}'"
    if isinstance(held, bytes):
        return f"X'{held.hex()}'"
    if isinstance(held, bool):
        return str(held).lower()
    if isinstance(held, str):
        return f"'{held}'"
    if isinstance(held, decimal.Decimal):
        return f"cast('{held}' as decimal(10, 2))"
    if isinstance(held, int):
        return str(held)
    if pa.types.is_floating(type_) and np.isfinite(held):
        return repr(float(held))
    return None


def compared(name: str, values: pa.Array, *, ordered: bool = True) -> list[str]:
    """Return comparisons of a column with its own values."""
    distinct = [one for one in values.unique() if one.is_valid]
    written = [text for text in map(_literal, distinct) if text is not None][:4]
    found = [f"{name} is null", f"{name} is not null"]
    for text in written:
        found += [f"{name} = {text}", f"{name} != {text}", f"not ({name} = {text})"]
        if ordered and not pa.types.is_boolean(values.type):
            found += [f"{name} {operator} {text}" for operator in ("<", "<=", ">", ">=")]
    if len(written) > 2:
        found += [f"{name} in ({', '.join(written[:2])})"]
        found += [f"{name} not in ({written[0]}, {written[2]})"]
        found += [f"{name} between {written[0]} and {written[1]}"]
    return found


def _over(columns: Mapping[str, pa.Array]) -> tuple[pa.Table, dict[str, list[str]]]:
    return pa.table(dict(columns)), {name: compared(name, own) for name, own in columns.items()}


UNHASHED = ("float16", "bool", "fixed", "duration", "decimal128", "decimal256")
"""Types of which a Bloom filter has no hash."""


def _texts(words: Sequence[str], joined: str, seed: int) -> list[str | None]:
    """Return texts of up to four words, one in ten null."""
    source = random.Random(seed)
    return [
        None if source.random() < 0.1 else joined.join(source.choices(words, k=source.randrange(5)))
        for _ in range(ROWS)
    ]


WORDS = ["hello", "world", "Été", "ſtraße", "foo_bar", "日本語", "ab", "x1y2", "hell", "BAR", ""]
TRIGRAMS = [
    *(f"contains(s, '{part}')" for part in ("ell", "hello wor", "bar", "zzz", "traße")),
    "s like 'hel%'",
    "starts_with(s, 'foo')",
    "regexp_match(s, 'hel+o')",
    "regexp_match(s, 'ello.*bar')",
]
PARTS = ["a", "bc", "é", "日", "ab", "b日", "c c", " ", "aéa", "ba", "cab", "zz"]
KEPT_WORDS = {
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "lower_case": False,
    "max_token_length": None,
}
"""Parameters by which an inverted index keeps every word as it is."""

VOCABULARY = ["the", "The", "fox", "foxes", "é", "e", "日本", "12", "a_b", "x-y", "running"]
TOKENS = [
    f"contains_tokens(s, '{words}')"
    for words in ("fox", "The", "the The", "日本 12", "x y", "a_b", "nowhere", "fox nowhere", "é e")
]
LISTS = pa.table(
    {
        "l": pa.array([one and one.split() for one in _texts("abc", " ", 3)], pa.list_(pa.utf8())),
        "n": pa.array(
            [one and [int(n) for n in one.split()] for one in _texts("123", " ", 4)],
            pa.large_list(pa.int64()),
        ),
    }
)
LABELS = {
    "l": [
        "array_has(l, 'a')",
        "array_contains(l, 'zz')",
        "not array_has(l, 'a')",
        "array_has_any(l, ['a', 'b'])",
        "array_has_all(l, ['a', 'b'])",
        "not array_has_all(l, ['a', 'b'])",
    ],
    "n": ["array_has(n, 3)", "array_has_all(n, [1, 2])", "array_has_any(n, [1, 9])"],
}

MEMBERS: dict[str, list[object]] = {
    "int": [-3, 0, 1, 5, 5, 7, 2**53 + 1],
    "float": [-1.5, 0.25, 3, 1e300],
    "string": ["", "a", "abcd", "abce", "été", "5", "zz top"],
    "bool": [True, False],
}


def documents(name: str) -> pa.Array:
    """Return documents whose member `a` has values of a type; in some it is null or missing."""
    source, texts = random.Random(name), [json.dumps({"a": MEMBERS[name][0]})]  # it says the type
    for number in range(1, ROWS):
        value = source.choice([*MEMBERS[name] * 3, None])
        texts.append(json.dumps({"n": number} if number % 17 == 3 else {"a": value}))
    return pa.array([None if n % 23 == 5 else text for n, text in enumerate(texts)], pa.json_())


def _member(column: str, name: str, target: str) -> list[str]:
    call = f"json_get_{name}({column}, 'a')"
    if target == "NGRAM":
        return [f"contains({call}, '{part}')" for part in ("abc", "bcd", "top", "xyz", "été")]
    type_ = pa.array(MEMBERS[name][:1]).type
    found = compared(call, pa.array(MEMBERS[name], type_), ordered=target != "BLOOMFILTER")
    if target in ("BTREE", "BITMAP"):
        return found
    left_out = ("not", "!=", "between") if target == "BLOOMFILTER" else ("not", "!=")
    return [one for one in found if not any(word in one for word in left_out)]


def _json(target: str, names: Sequence[str]) -> Subject:
    parameters = {"target_index_type": target, "path": "a"}
    conditions = {f"j_{name}": _member(f"j_{name}", name, target) for name in names}
    table = pa.table({f"j_{name}": documents(name) for name in names})
    return Subject("json", table, conditions, parameters, stable_ids=target != "BTREE")


POINT = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
BOX = pa.struct(
    [pa.field(name, pa.float64(), nullable=False) for name in ("xmin", "ymin", "xmax", "ymax")]
)
GEOMETRIES = {
    "point": POINT,
    "linestring": pa.list_(POINT),
    "polygon": pa.list_(pa.list_(POINT)),
    "multipoint": pa.list_(POINT),
    "multilinestring": pa.list_(pa.list_(POINT)),
    "multipolygon": pa.list_(pa.list_(pa.list_(POINT))),
    "box": BOX,
    "wkb": pa.binary(),
    "wkt": pa.utf8(),
}
"""Types of columns by their GeoArrow names."""


def _geometry(kind: str, number: int) -> object:
    """Return a geometry on a grid; one in eleven is null."""
    if number % 11 == 7:
        return None
    x, y = float(number * 7 % 20), float(number * 3 % 17)
    right, high = x + 1 + number % 5, y + 1 + number % 3 / 4
    corners = ((x, y), (right, y), (right, high), (x, high), (x, y))
    ring = [{"x": a, "y": b} for a, b in corners]
    shapes = [shapely.Point(x, y), shapely.box(x, y, right, high), shapely.LineString(corners[:3])]
    return {
        "point": ring[0],
        "linestring": ring[:3],
        "polygon": [ring],
        "multipoint": ring[1:],
        "multilinestring": [ring[:2], ring],
        "multipolygon": [[ring]],
        "box": {"xmin": x, "ymin": y, "xmax": right, "ymax": high},
        "wkb": shapely.to_wkb(shapes[number % 3]),
        "wkt": shapely.to_wkt(shapes[number % 3], rounding_precision=-1),
    }[kind]


def geometries(kinds: Sequence[str], rows: int = ROWS) -> pa.Table:
    """Return a table with a column of geometries of each kind, named by it."""
    fields, arrays = [], []
    for kind in kinds:
        metadata = {"ARROW:extension:name": f"geoarrow.{kind}", "ARROW:extension:metadata": "{}"}
        fields.append(pa.field(kind, GEOMETRIES[kind], metadata=metadata))
        arrays.append(pa.array([_geometry(kind, n) for n in range(rows)], GEOMETRIES[kind]))
    return pa.table(arrays, schema=pa.schema(fields))


def _places(column: str) -> list[str]:
    shapes = [
        shapely.box(2, 2, 9, 9),
        shapely.Point(7, 3),
        shapely.Polygon([(0, 0), (9, 0), (9, 9)]),
    ]
    written = [f"st_geomfromtext('{shapes[0].wkt}')", f"st_geomfromwkb(X'{shapes[1].wkb.hex()}')"]
    functions = ("st_intersects", "st_within", "st_contains", "st_covers", "st_coveredby")
    return [
        f"{column} is null",
        *(
            f"{name}({column}, {one})"
            for name in functions
            for one in (*written, f"'{shapes[2].wkt}'")
        ),
    ]


FEW = {name: COLUMNS[name] for name in ("int8", "uint64", "float64", "utf8", "timestamp")}
HASHED = {name: values for name, values in COLUMNS.items() if name not in UNHASHED}
SUBJECTS = {
    "BTREE": Subject("btree", *_over(COLUMNS)),
    "BTREE in pages": Subject("btree", *_over(FEW), {"zone_size": 10}),
    "BITMAP": Subject("bitmap", *_over(COLUMNS)),
    "ZONEMAP": Subject("zonemap", *_over(COLUMNS), {"rows_per_zone": 7}, always_asked=False),
    "BLOOMFILTER": Subject(
        "bloomfilter",
        *_over(HASHED),
        {"number_of_items": 7, "probability": 0.01},
        always_asked=False,
    ),
    "LABEL_LIST": Subject("label_list", LISTS, LABELS),
    "NGRAM": Subject("ngram", pa.table({"s": _texts(WORDS, " ", 5)}), {"s": TRIGRAMS}),
    "FM": Subject(
        "fm",
        pa.table({"s": _texts([*"abcé日 "], "", 6)}),
        {
            "s": [
                *(f"contains(s, '{part}')" for part in PARTS),
                *(f"not contains(s, '{part}')" for part in PARTS if " " not in part),
            ]
        },
    ),
    "INVERTED": Subject(
        "inverted", pa.table({"s": _texts(VOCABULARY, " ", 9)}), {"s": TOKENS}, KEPT_WORDS
    ),
    "RTREE": Subject(
        "rtree",
        geometries([*GEOMETRIES]),
        {one: _places(one) for one in GEOMETRIES},
        {"page_size": 4},
    ),
    **{f"JSON of {target}": _json(target, [*MEMBERS]) for target in ("BTREE", "BITMAP", "ZONEMAP")},
    "JSON of BLOOMFILTER": _json("BLOOMFILTER", ["int", "float", "string"]),
    "JSON of NGRAM": _json("NGRAM", ["string"]),
}
"""What every scalar index type is tested with."""
