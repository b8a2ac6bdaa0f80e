"""Parameters of encoders."""

import pytest
from lanceref.codecs.encoder_inputs import Params, params_of


def test_nothing_said_is_the_default():
    """No key, no knob."""
    assert params_of({}) == Params()


def test_every_key_is_read():
    """Keys start with `lance-encoding:`."""
    said = {
        "compression": "zstd",
        "compression-level": "9",
        "rle-threshold": "0.25",
        "bss": "on",
        "minichunk-size": "65536",
        "dict-divisor": "4",
        "dict-size-ratio": "0.5",
        "dict-values-compression": "none",
        "dict-values-compression-level": "3",
        "structural-encoding": "fullzip",
    }

    found = params_of({f"lance-encoding:{key}": value for key, value in said.items()})

    assert found == Params("zstd", 9, 0.25, "on", 65536, 4, 0.5, 100, 100_000, "none", 3, "fullzip")


def test_the_environment_gives_defaults(monkeypatch):
    """A key of the field overrides them."""
    monkeypatch.setenv("LANCE_ENCODING_DICT_TOO_SMALL", "7")
    monkeypatch.setenv("LANCE_ENCODING_DICT_DIVISOR", "8")
    monkeypatch.setenv("LANCE_BINARY_MINIBLOCK_CHUNK_SIZE", "512")

    found = params_of({"lance-encoding:dict-divisor": "3"})

    assert (found.dict_too_small, found.dict_divisor, found.minichunk_size) == (7, 3, 512)


@pytest.mark.parametrize("ratio", ["1.5", "-1"])
def test_a_ratio_outside_its_range_is_refused(ratio):
    """It must lie in (0, 1]."""
    with pytest.raises(ValueError, match="dict-size-ratio"):
        params_of({"lance-encoding:dict-size-ratio": ratio})


def test_text_that_is_no_number_counts_as_not_said():
    """A level of 'high' is ignored."""
    assert params_of({"lance-encoding:compression-level": "high"}).compression_level is None
