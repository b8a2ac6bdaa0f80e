"""MINHASHLSH: signatures, bands, and rows with much of a text in common."""

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import BytesError, OperationRefused, Place
from lanceref.index.minhash import signature
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.minhash.signature import (
    MinHashParameters,
    Signer,
    constants,
    parse_parameters,
    requested_parameters,
)
from pylanceref.indices import IndexConfig
from pylanceref.query import MinHashQuery

from .tables import write

SOURCE = random.Random(8)
WORDS = ["alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "Été", "ſtraße", "日本", "..."]
PARAMETERS: tuple[dict[str, object], ...] = (
    {},
    {"num_hashes": 60, "num_bands": 20, "shingle_size": 1},
    {"shingle_size": 2, "tokenizer": {"stem": True, "base_tokenizer": "whitespace"}},
)


def some_text() -> str:
    """Return a few words."""
    return " ".join(SOURCE.choices(WORDS, k=SOURCE.randint(0, 7)))


TEXTS = [None if SOURCE.random() < 0.05 else some_text() for _ in range(300)]


def make(values, root, parameters=None, **options) -> pylanceref.LanceDataset:
    """Write texts and a MINHASHLSH index over them."""
    dataset = write(pa.table({"s": values, "i": range(len(values))}), root, **options)
    dataset.create_scalar_index("s", IndexConfig("minhashlsh", dict(parameters or {})))
    return dataset


def opened(dataset) -> MinHashLsh:
    """Return the only segment, opened."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    return MinHashLsh(segment)


def alike(dataset, text, **scan) -> list[tuple[int, float]]:
    """Return the rows that are found, and their distances."""
    found = dataset.to_table(nearest=MinHashQuery(text, "s"), columns=["i", "_distance"], **scan)
    return list(zip(found["i"].to_pylist(), found["_distance"].to_pylist(), strict=True))


MASK = 2**64 - 1


def test_worked_constants():
    """SplitMix64 from 42: the first numbers that the generator is known for, a and c made odd."""
    first, second, last = constants(2)
    assert first.tolist() == [13679457532755275413, 5139283748462763859]
    assert second.tolist() == [2949826092126892291, 6349198060258255764]
    assert (last & np.uint64(1)).all()


def joined(tokens: list[str], size: int) -> list[str]:
    """Return the shingles of a text, one by one."""
    count = max(1, len(tokens) - size + 1) if tokens else 0
    return ["\x1f".join(tokens[first : first + size]) for first in range(count)]


@given(st.lists(st.text("ab .日", max_size=30), max_size=20), st.integers(1, 4))
def test_the_least_over_all_shingles(texts, size):
    """However many texts are signed together; equal to the slow way."""
    parameters = MinHashParameters(8, 4, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signature, "RUN_TEXTS", 7)
        patch.setattr(signature, "BLOCK_TEXTS", 3)
        numbers, found = Signer(parameters).sign(texts)
    a, b, c = (one.tolist() for one in constants(8))
    expected = []
    for text in texts:
        parts = joined(text.replace(".", " ").split(), size)
        hashes = [xxhash.xxh64_intdigest(part.encode(), 42) for part in parts]
        least = [min((a[i] * x + b[i]) & MASK for x in hashes) for i in range(8) if hashes]
        expected.append([((c[i] * one) & MASK) >> 48 for i, one in enumerate(least)])
    assert numbers.tolist() == [number for number, one in enumerate(expected) if one]
    assert found.tolist() == [one for one in expected if one]


PLACE = Place("x", 0)


def test_worked_details():
    """As the official writer has those of an index without given parameters."""
    assert MinHashParameters().details.SerializeToString(deterministic=True).hex() == (
        "0880011010180322220a0673696d706c65120922456e676c69736822202828014001480350036080017802"
    )


@pytest.mark.parametrize(
    "given",
    [
        *PARAMETERS,
        {"tokenizer": {"max_token_length": None, "other": 1, "stem": None}},
        {"num_hashes": 1, "num_bands": 1},
        {"num_hashes": 4096, "num_bands": 256},
    ],
)
def test_what_is_asked_for_is_parsed(given):
    """From the details that are written."""
    asked = requested_parameters(given)
    assert parse_parameters(asked.details, PLACE) == asked
    assert asked.analysis.stem is bool(given.get("tokenizer", {}).get("stem"))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"num_hashes": 0}, "1 <= num_hashes"),
        ({"num_hashes": 4097}, "num_hashes <= 4096"),
        ({"num_bands": 0}, "1 <= num_bands"),
        ({"num_bands": 257}, "num_bands <= 256"),
        ({"num_hashes": 10, "num_bands": 3}, "multiple of num_bands"),
        ({"shingle_size": 0}, "shingle_size > 0"),
        ({"num_hashes": "a"}, "num_hashes is 'a'"),
        ({"tokenizer": 1}, "tokenizer is 1"),
        ({"stem": True}, "unknown field `stem`"),
        ({"tokenizer": {"stem": "x"}}, "tokenizer params"),
        ({"tokenizer": {"base_tokenizer": "foo"}}, "unknown base tokenizer foo"),
        ({"tokenizer": {"lance_tokenizer": "json"}}, "lance_tokenizer not recorded"),
        ({"tokenizer": {"custom_stop_words": ["a"]}}, "custom_stop_words not recorded"),
    ],
)
def test_wrong_parameters_are_refused(given, text):
    """Each with what is wrong with it."""
    with pytest.raises(OperationRefused, match=text):
        requested_parameters(given)


FEW = {"num_hashes": 4, "num_bands": 2, "shingle_size": 1}


@pytest.fixture
def segment(tmp_path):
    """A segment over two texts, of two bands each."""
    (found,) = make(["a b", None, "c", ""], tmp_path, FEW)._snapshot.indices.segments
    return found


def test_worked_columns(segment):
    """Rows without a token are none; bands lie by their keys."""
    index = MinHashLsh(segment)
    keys, signatures = index.signatures(np.arange(index.num_docs))
    assert keys.tolist() == [0, 2]
    assert signatures.shape == (2, 4)
    bands, documents = index.bands(0, 4)
    assert sorted(bands.tolist()) == bands.tolist()
    assert [int(band) >> 56 for band in bands] == [0, 0, 1, 1]
    assert index.documents_with(bands[:1]).tolist() == documents[:1].tolist()
    assert index.documents_with(bands).tolist() == [0, 1]
    assert index.documents_with(bands + np.uint64(1)).tolist() == []


@pytest.mark.parametrize("stable", [False, True])
def test_an_index_is_kept_up_to_date(tmp_path, stable):
    """With its own parameters: what is found stays what is found, however rows are covered."""
    parameters = PARAMETERS[1]
    options = {"max_rows_per_file": 200, "enable_stable_row_ids": stable}
    dataset = make(TEXTS, tmp_path, parameters, **options)
    table = dataset.to_table()
    dataset.delete("i % 7 = 2")
    dataset.insert(table.slice(0, 50))
    texts = [some_text() for _ in range(10)]

    def found() -> list[list[tuple[int, float]]]:
        return [
            sorted(alike(dataset, text, limit=900), key=lambda one: one[::-1]) for text in texts
        ]

    expected = found()
    assert any(expected)
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert len(dataset.list_indices()) == 2
    assert found() == expected
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert len(dataset.list_indices()) == 1
    assert found() == expected
    dataset.optimize.compact_files()
    assert found() == expected
    for text, rows in zip(texts, expected, strict=True):
        some = alike(dataset, text, limit=900, filter="i % 3 = 1")
        assert sorted(some) == sorted(row for row in rows if row[0] % 3 == 1)
    assert opened(dataset).parameters.num_hashes == 60


SCANS: tuple[dict[str, object], ...] = (
    {"limit": 5, "offset": 2},
    {"filter": "i % 3 = 1", "prefilter": True},
    {"filter": "i % 3 = 1", "limit": 900},
    {"fast_search": True},
)


@pytest.mark.oracle
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path, parameters):
    """Columns, metadata and page table are equal; rows of both libraries from both tables."""
    import lance
    import lance.indices
    import lance.query

    made = {}
    table = pa.table({"s": TEXTS, "i": range(len(TEXTS))})
    configs = {lance: lance.indices.IndexConfig, pylanceref: IndexConfig}
    for library, config in configs.items():
        path = str(tmp_path / library.__name__)
        lance.write_dataset(table, path, max_rows_per_file=200)
        given = config("minhashlsh", dict(parameters))
        library.dataset(path).create_scalar_index("s", given)
        made[library] = path
    theirs, own = (opened(pylanceref.dataset(path)) for path in made.values())
    for name in ("_signatures", "_bands"):
        one, other = getattr(theirs, name), getattr(own, name)
        assert dict(one.metadata) == dict(other.metadata)
        assert all(one.read(column) == other.read(column) for column in one.names)
    assert theirs._last.tolist() == own._last.tolist()
    for path in made.values():
        pylanceref.dataset(path).delete("i % 7 = 2")
        lance.dataset(path).insert(table.slice(0, 50))
        for text, scan in product(TEXTS[:8], SCANS):
            expected, found = (
                library.dataset(path).to_table(
                    columns=["i", "_distance"],
                    nearest=library.query.MinHashQuery(text or "alpha", "s"),
                    **scan,
                )
                for library in (lance, pylanceref)
            )
            assert found.to_pydict() == expected.to_pydict()


@pytest.mark.parametrize(
    "change", [{"num_bands": 3}, {"signature_version": 1}, {"shingle_size": 0}]
)
def test_damaged_details_are_refused(change):
    """Before anything is read by them."""
    details = MinHashParameters().details
    for name, value in change.items():
        setattr(details, name, value)
    with pytest.raises(BytesError, match=r"L\.index\.minhash\.details"):
        parse_parameters(details, PLACE)
