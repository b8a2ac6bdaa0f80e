"""Every scalar index type: a table that it is built over, and conditions that it answers."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import shapely
from lanceref_testing import columns
from lanceref_testing.columns import MEMBERS, ORDERED, Column
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


UNITS = ("_s", "_ns")
"""Ends of the names of columns of times that others of their type stand for."""

COLUMNS = {name: one for name, one in ORDERED.items() if not name.endswith(UNITS)}
"""Columns of every type that can be compared, by the name of the type."""

MOST_VALUES = 4
"""Values that a column is compared with."""


def compared(name: str, column: Column, *, ordered: bool = True) -> list[str]:
    """Return comparisons of a column with some of its values."""
    is_short = len(column.values) <= 2 * MOST_VALUES
    some = column.values if is_short else column.values[3::2]  # 1e30 is no float32
    written = [column.to_sql(one) for one in some[:MOST_VALUES]]
    found = [f"{name} is null", f"{name} is not null"]
    for text in written:
        found += [f"{name} = {text}", f"{name} != {text}", f"not ({name} = {text})"]
        if ordered and not pa.types.is_boolean(column.type):
            found += [f"{name} {operator} {text}" for operator in ("<", "<=", ">", ">=")]
    if len(written) > 2:
        found += [f"{name} in ({', '.join(written[:2])})"]
        found += [f"{name} not in ({written[0]}, {written[2]})"]
        found += [f"{name} between {written[0]} and {written[1]}"]
    return found


def _over(own: Mapping[str, Column]) -> tuple[pa.Table, dict[str, list[str]]]:
    drawn = {name: one.draw(random.Random(name), ROWS) for name, one in own.items()}
    return pa.table(drawn), {name: compared(name, one) for name, one in own.items()}


UNHASHED = {"float16", "bool", "fixed", "duration_ms", "duration_us", "decimal128", "decimal256"}
UNHASHED |= {"dictionary"}
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
    found = compared(call, columns.documents(name), ordered=target != "BLOOMFILTER")
    if target in ("BTREE", "BITMAP"):
        return found
    left_out = ("not", "!=", "between") if target == "BLOOMFILTER" else ("not", "!=")
    return [one for one in found if not any(word in one for word in left_out)]


def _json(target: str, names: Sequence[str]) -> Subject:
    parameters = {"target_index_type": target, "path": "a"}
    conditions = {f"j_{name}": _member(f"j_{name}", name, target) for name in names}
    table = pa.table({f"j_{name}": documents(name) for name in names})
    return Subject("json", table, conditions, parameters, stable_ids=target != "BTREE")


GEOMETRIES = (
    *("point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    *("box", "wkb", "wkt"),
)
"""GeoArrow names of columns."""


def geometries(kinds: Sequence[str], rows: int = ROWS) -> pa.Table:
    """Return a table with a column of geometries of each kind, named by it."""
    drawn = {kind: columns.geometries(f"geoarrow.{kind}") for kind in kinds}
    fields = [
        pa.field(kind, one.type, metadata={"ARROW:extension:name": one.extension})
        for kind, one in drawn.items()
    ]
    arrays = [one.draw(random.Random(kind), rows) for kind, one in drawn.items()]
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


FEW = {name: COLUMNS[name] for name in ("int8", "uint64", "float64", "utf8", "timestamp_us")}
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
