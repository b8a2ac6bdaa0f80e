"""Durations as text: the answers are the oracle's."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.sql.expression import bind as bind_sql

COUNTS = [0, -1, 3700, 90061, -90061, 86400, None]
FINE = [0, -1, 1000, 90_061_000_005, 1_500_000, -(90_060_000_000), None]
BATCH = pa.record_batch(
    {"s": pa.array(COUNTS, pa.duration("s")), "u": pa.array(FINE, pa.duration("us"))}
)


def call(text):
    """Return the values of an expression."""
    bound = bind_sql(text, BATCH.schema)
    return bound.evaluate(BATCH).to_pylist()


def test_words_have_the_sign_of_what_is_not_zero():
    """Whatever the form is, and as many digits as the unit has."""
    wanted = [
        "0 days 0 hours 0 mins 0 secs",
        "0 days 0 hours 0 mins -1 secs",
        "0 days 1 hours 1 mins 40 secs",
        "1 days 1 hours 1 mins 1 secs",
        "-1 days -1 hours -1 mins -1 secs",
        "1 days 0 hours 0 mins 0 secs",
        None,
    ]
    for form in ("pretty", "%H", ""):
        assert wanted == call(f"to_char(s, '{form}')")
    assert "0 days 0 hours 0 mins -0.000001 secs" == call("to_char(u, 'pretty')")[1]
    assert "1 days 1 hours 1 mins 1.000005 secs" == call("to_char(u, 'pretty')")[3]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        ("s", ["P0D", "-PT1S", "PT3700S", "PT90061S", "-PT90061S", "PT86400S", None]),
        (
            "u",
            [
                "P0D",
                "-PT0.000001S",
                "PT0.001S",
                "PT90061.000005S",
                "PT1.5S",
                "-PT90060S",
                None,
            ],
        ),
    ],
)
def test_the_other_form_counts_seconds(column, wanted):
    """Without zeros after the point, its name in letters of any size."""
    for form in ("iso8601", "ISO8601"):
        assert wanted == call(f"to_char({column}, '{form}')")


@pytest.mark.oracle
def test_the_oracle_shows_the_same(tmp_path):
    """Of every unit."""
    import lance

    units = {one: pa.array(FINE, pa.duration(one)) for one in ("s", "ms", "us", "ns")}
    made = pylanceref.write_dataset(pa.table(units), tmp_path / "t")
    shown = {
        f"{unit} {form}": f"to_char({unit}, '{form}')"
        for unit in units
        for form in ("pretty", "iso8601", "ISO8601", "")
    }
    found = [one.dataset(made.uri).to_table(columns=shown) for one in (lance, pylanceref)]
    assert found[0].to_pydict() == found[1].to_pydict()
