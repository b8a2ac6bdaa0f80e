"""JSON: an index over what a path finds in documents."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused, LanceError, OperationRefused
from lanceref.index.indices import kind_of
from lanceref.index.scalar.json import TARGETS, check_entry, value_type
from lanceref.proto.index_pb2 import JsonIndexDetails
from pylanceref.indices import IndexConfig

from ..tables import QUESTIONS, asked, assert_found, assert_same, ids, index_reads, scanned, write

DRAWN = {
    "int": [-3, 0, 1, 5, 5, 7, 2**53 + 1],
    "float": [-1.5, 0.0, -0.0, 0.25, 3, 1e300],
    "string": ["", "a", "abcd", "abce", "été", "5", "zz top"],
    "bool": [True, False],
}
ORDERED = ("BTREE", "BITMAP", "ZONEMAP")
PAIRS = [
    *((target, name) for target in ORDERED for name in DRAWN),
    *(("BLOOMFILTER", name) for name in ("int", "float", "string")),
    ("NGRAM", "string"),
]


def documents(name: str, rows: int = 60) -> list[str | None]:
    """Return documents whose member `a` has values of a type; some have none."""
    source = random.Random(rows)
    found: list[str | None] = []
    for number in range(rows):
        chance = source.random()
        member = (
            {} if chance < 0.05 else {"a": None if chance < 0.1 else source.choice(DRAWN[name])}
        )
        found.append(None if 0.1 <= chance < 0.15 else json.dumps({"n": number, **member}))
    found[0] = json.dumps({"a": DRAWN[name][0]})  # it says the type
    return found


def table(texts) -> pa.Table:
    """Return a table of documents."""
    return pa.table({"j": pa.array(texts, pa.json_())})


def config(target: str, path: str = "a", **parameters: object) -> IndexConfig:
    """Return what is asked for."""
    return IndexConfig("json", {"target_index_type": target, "path": path, **parameters})


def conditions(name: str, target: str, count: int = QUESTIONS) -> list[str]:
    """Return conditions that an index of a type over values of a type answers."""
    source = random.Random(f"{name} {target}")
    call = f"json_get_{name}(j, 'a')"
    operators = ["=", "=", "<", "<=", ">", ">=", "!="] if target != "BLOOMFILTER" else ["="]
    if target == "ZONEMAP":
        operators.remove("!=")

    def literal() -> str:
        value = source.choice(DRAWN[name])
        if isinstance(value, str):
            return f"'{value}'"
        if isinstance(value, bool) or name == "int":
            return str(value).lower()
        return repr(float(value))

    def leaf() -> str:
        if target == "NGRAM":
            return f"contains({call}, '{source.choice(['abc', 'bcd', 'top', 'xyz', 'été'])}')"
        if name == "bool":
            return f"{call} {source.choice(['= true', '= false', 'is null'])}"
        kind = source.randrange(4)
        if kind == 0:
            return f"{call} is null"
        if kind == 1:
            return f"{call} in ({literal()}, {literal()}, {literal()})"
        return f"{call} {source.choice(operators)} {literal()}"

    exact = target in ("BTREE", "BITMAP")

    def tree(depth: int) -> str:
        if not depth or source.random() < 0.4:
            return leaf()
        if exact and source.random() < 0.3:
            return f"not ({tree(depth - 1)})"
        return f"({tree(depth - 1)} {source.choice(['and', 'or'])} {tree(depth - 1)})"

    found: list[str] = []
    while len(found) < count:
        condition = tree(2)
        if name != "float" or "or" not in condition or "0.0" not in condition:
            found.append(condition)  # the oracle folds `x not in (1, 2) or x != 0.0` to true
    return found


def segments_of(dataset):
    """Return the segments of a version, opened anew."""
    return pylanceref.dataset(dataset.uri)._snapshot.indices.segments


@pytest.mark.parametrize(("target", "name"), PAIRS)
def test_what_is_found_is_what_a_scan_finds(tmp_path, target, name):
    """With rows deleted and rows that no index covers."""
    dataset = write(table(documents(name)), tmp_path, max_rows_per_file=25)
    dataset.create_scalar_index("j", config(target))
    dataset.delete("_rowoffset in (3, 40, 41)")
    dataset.insert(table(documents(name, 20)))
    assert_same(dataset, conditions(name, target))


@pytest.mark.parametrize("target", ["BTREE", "BITMAP", "ZONEMAP", "NGRAM"])
def test_an_index_is_brought_up_to_date_and_moved(tmp_path, target):
    """It says the same afterwards, of one segment or of two."""
    asked_for = conditions("string", target, 25)
    dataset = write(table(documents("string")), tmp_path, max_rows_per_file=25)
    dataset.create_scalar_index("j", config(target))
    dataset.insert(table(documents("string", 20)))
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert len(segments_of(dataset)) == 2
    assert_same(dataset, asked_for)
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert len(segments_of(dataset)) == 1
    dataset.delete("_rowoffset in (3, 40)")
    dataset.optimize.compact_files()
    assert_found(dataset, asked_for)


def test_segments_are_built_apart_and_committed(tmp_path):
    """Merged or not they answer together."""
    dataset = write(table(documents("int")), tmp_path, max_rows_per_file=20)
    made = [
        dataset.create_index_uncommitted("j", config("BTREE"), fragment_ids=[number])
        for number in range(3)
    ]
    merged = dataset.merge_existing_index_segments(made[:2])
    dataset.commit_existing_index_segments("j_idx", "j", [merged, made[2]])
    assert [list(one.covers) for one in segments_of(dataset)] == [[0, 1], [2]]
    assert_same(dataset, conditions("int", "BTREE", 25))


def test_values_of_a_new_type_are_refused(tmp_path):
    """The index that is there stays."""
    dataset = write(table(['{"a":1}']), tmp_path)
    dataset.create_scalar_index("j", config("BTREE"))
    dataset.insert(table(['{"a":"x"}']))
    with pytest.raises(OperationRefused, match="of int64 and of string"):
        dataset.optimize.optimize_indices()
    assert ids(dataset, "json_get_string(j, 'a') = 'x'") == [1 << 32]


def test_only_members_are_asked_for(tmp_path):
    """A path that leads to one has many spellings; a name is not a path."""
    texts = ['{"a":{"b":1}}', '{"a.b":1}', '{"a":[{"b":1}]}', '{"$.a":{"b":1}}']
    dataset = write(table(texts), tmp_path)
    nested = "json_get_int(json_get(j, 'a'), 'b') = 1"
    for path in ("a.b", "$.a.b", '$["a"].b', ' a."b" '):
        dataset.create_scalar_index("j", config("BTREE", path))
        assert asked(dataset, nested)
        assert ids(dataset, nested) == ids(dataset, nested, use_scalar_index=False) == [0]
        for other in ("json_get_int(j, 'a.b') = 1", f"json_get_int(j, '{path}') = 1"):
            assert not asked(dataset, other), other
    dataset.create_scalar_index("j", config("BTREE", "a[0].b"))
    assert not asked(dataset, nested)


def test_another_type_is_not_known(tmp_path):
    """A whole number is also a float, and text: what an index of whole numbers cannot say."""
    for target in ("BTREE", "BITMAP", "ZONEMAP", "BLOOMFILTER"):
        dataset = write(table(['{"a":5}', '{"a":null}']), tmp_path / target)
        dataset.create_scalar_index("j", config(target))
        assert ids(dataset, "json_get_float(j, 'a') = 5.0") == [0]
        assert ids(dataset, "json_get_string(j, 'a') = '5'") == [0]
        assert ids(dataset, "json_get_float(j, 'a') is null") == [1]


def test_what_it_is_built_from_is_checked(tmp_path):
    """Parameters, the type of the values' index, the column, stable row ids."""
    dataset = write(table(['{"a":1}']), tmp_path)
    for parameters in ({"path": "a"}, {"target_index_type": "btree"}):
        with pytest.raises(IndexRefused, match="missing field"):
            dataset.create_scalar_index("j", IndexConfig("json", parameters))
    for target in ("inverted", "json", "nonsense"):
        with pytest.raises(OperationRefused, match="holds values of documents"):
            dataset.create_scalar_index("j", config(target))
    text = write(pa.table({"s": ["x"]}), tmp_path / "text")
    with pytest.raises(OperationRefused, match="cannot index s"):
        text.create_scalar_index("s", config("btree"))
    stable = write(table(['{"a":1}']), tmp_path / "stable", enable_stable_row_ids=True)
    with pytest.raises(OperationRefused, match="stable ids"):
        stable.create_scalar_index("j", config("btree"))
    stable.create_scalar_index("j", config("bitmap"))
    assert_same(stable, ["json_get_int(j, 'a') = 1", "json_get_int(j, 'a') != 1"])


def test_the_other_type_has_parameters_too(tmp_path):
    """They are text."""
    dataset = write(table([f'{{"a":{n}}}' for n in range(7)]), tmp_path)
    dataset.create_scalar_index("j", config("btree", target_index_parameters='{"zone_size": 2}'))
    assert dataset.index_statistics("j_idx")["indices"] == [
        {"min": "0", "max": "6", "num_pages": 4}
    ]
    assert dataset.index_statistics("j_idx")["index_type"] == "BTree"
    assert [one["type"] for one in dataset.list_indices()] == ["Json"]
    (described,) = dataset.describe_indices()
    assert described.index_type == "Json"


def test_details_of_nothing_known_are_passed_over(tmp_path):
    """The rows are scanned; so they are when the details cannot be read."""
    dataset = write(table(['{"a":1}']), tmp_path)
    dataset.create_scalar_index("j", config("btree"))
    (segment,) = segments_of(dataset)
    entry = type(segment.entry)()
    entry.CopyFrom(segment.entry)
    assert kind_of(entry) is kind_of(segment.entry)
    entry.index_details.value = entry.index_details.value.replace(b"BTree", b"Other")
    assert kind_of(entry) is None
    entry.index_details.value = b"\xff"
    assert kind_of(entry) is None


def test_every_type_says_that_of_its_values(tmp_path):
    """But for filters, which say nothing of it."""
    for name, target in TARGETS.items():
        dataset = write(table(['{"a":"abc"}']), tmp_path / name)
        dataset.create_scalar_index("j", config(name))
        (segment,) = segments_of(dataset)
        assert value_type(segment, target) == (None if name == "BLOOMFILTER" else pa.utf8())


def test_only_pages_that_may_have_a_value_are_read(tmp_path):
    """The documents are not."""
    texts = [json.dumps({"a": n, "pad": f"{n}" * 20}) for n in range(20_000)]
    dataset = write(table(texts), tmp_path)
    condition = "json_get_int(j, 'a') = 17171"
    everything = index_reads(dataset, condition)
    dataset.create_scalar_index("j", config("btree"))
    assert index_reads(dataset, condition) * 10 < everything


def test_a_wrong_value_is_reported(tmp_path):
    """An index that lies is found by a look at the rows."""
    dataset = write(table(['{"a":1}', '{"a":2}']), tmp_path)
    dataset.create_scalar_index("j", config("bitmap"))
    assert not lanceref.validate(dataset.uri, deep=True)
    other = write(table(['{"a":1}', '{"a":3}']), tmp_path / "other")
    other.create_scalar_index("j", config("bitmap"))
    (mine,), (theirs,) = segments_of(dataset), segments_of(other)
    name = "bitmap_page_lookup.lance"
    theirs_at = Path(other.uri, theirs.folder, name)
    Path(dataset.uri, mine.folder, name).write_bytes(theirs_at.read_bytes())
    assert [one.clause for one in lanceref.validate(dataset.uri, deep=True)] == [
        "L.index.segment.complete"
    ]


def test_damaged_files_lose_no_rows(tmp_path):
    """A file that lost its end, or has bytes turned, gives the rows or an error."""
    texts = documents("int")
    dataset = write(table(texts), tmp_path)
    dataset.create_scalar_index("j", config("btree"))
    condition = "json_get_int(j, 'a') >= 0"
    wanted = ids(dataset, condition)
    (segment,) = segments_of(dataset)
    source = random.Random(7)
    for file in segment.entry.files:
        path = Path(dataset.uri, segment.folder, file.path)
        whole = path.read_bytes()
        for cut in (0, 1, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:cut])
            with pytest.raises(LanceError):
                ids(pylanceref.dataset(dataset.uri), condition)
        for _ in range(30):
            at = source.randrange(len(whole) - 60, len(whole))
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            try:
                assert ids(pylanceref.dataset(dataset.uri), condition) == wanted
            except LanceError:
                continue
        path.write_bytes(whole)


@pytest.mark.oracle
@pytest.mark.parametrize(("target", "name"), PAIRS)
def test_the_oracle_finds_the_same(tmp_path, target, name):
    """Columns are equal up to the order of equal values; both libraries find the same rows."""
    import lance
    from lance.indices import IndexConfig as Config

    made = {}
    asked_for = config(target.lower())
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(table(documents(name)), path, max_rows_per_file=25)
        own = Config("json", asked_for.parameters) if library is lance else asked_for
        library.dataset(path).create_scalar_index("j", own)
        made[library] = path
    theirs, own = (segments_of(pylanceref.dataset(path))[0] for path in made.values())
    assert theirs.entry.index_details == own.entry.index_details
    for file in theirs.entry.files:
        first, second = theirs.file(file.path), own.file(file.path)
        assert dict(first.metadata) == dict(second.metadata)
        for column in set(first.names) - {"ids"}:
            assert first.read(column).equals(second.read(column)), column
    for path in made.values():
        readers = lance.dataset(path), pylanceref.dataset(path)
        asking = conditions(name, target)
        for condition, found in zip(asking, scanned(readers[0], asking), strict=True):
            for reader in readers:
                assert sorted(ids(reader, condition)) == sorted(found), condition


@pytest.mark.oracle
def test_where_the_oracle_answers_otherwise(tmp_path):
    """By the text of the path, and without regard to the type of the values."""
    import lance
    from lance.indices import IndexConfig as Config

    path = str(tmp_path / "t")
    lance.write_dataset(table(['{"a":5}', "{}"]), path)
    parameters = {"target_index_type": "btree", "path": "$.a"}
    lance.dataset(path).create_scalar_index("j", Config("json", parameters))
    spelled, member = "json_get_int(j, '$.a') = 5", "json_get_float(j, 'a') = 5.0"
    assert ids(lance.dataset(path), spelled) != ids(
        lance.dataset(path), spelled, use_scalar_index=False
    )
    lance.dataset(path).create_scalar_index("j", Config("json", {**parameters, "path": "a"}))
    assert ids(lance.dataset(path), member) == []
    for condition in (spelled, member):
        found = ids(lance.dataset(path), condition, use_scalar_index=False)
        assert ids(pylanceref.dataset(path), condition) == found


@pytest.mark.parametrize("name", ["InvertedIndexDetails", "BTreeIndexDetails"])
def test_details_that_hold_no_single_values_are_reported(tmp_path, name):
    """An index of texts among them; that of another type holds them."""
    table = pa.table({"j": pa.array(['{"a":1}'], pa.json_())})
    dataset = pylanceref.write_dataset(table, tmp_path)
    dataset.create_scalar_index(
        "j", IndexConfig("json", {"path": "a", "target_index_type": "btree"})
    )
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    details = JsonIndexDetails.FromString(segment.entry.index_details.value)
    details.target_details.type_url = f"/lance.table.{name}"
    segment.entry.index_details.value = details.SerializeToString()
    ctx = replace(segment.ctx, findings=[])
    check_entry(replace(segment, ctx=ctx))
    wanted = ["L.index.json.details"] if name == "InvertedIndexDetails" else []
    assert [finding.clause for finding in ctx.findings] == wanted
