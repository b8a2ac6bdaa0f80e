"""When rows become a page."""

from lanceref.file.column_io import page_policy


def test_the_cache_is_divided_among_the_fields():
    """Each field queues 8 MiB by default, else its share of what was asked for."""
    assert page_policy(3).cache_bytes == 8 << 20
    assert page_policy(3, 3000).cache_bytes == 1000
    assert page_policy(3, None, 77).max_page_bytes == 77


def test_the_page_limit_may_come_from_the_environment(monkeypatch):
    """LANCE_FILE_WRITER_MAX_PAGE_BYTES is the default of `max_page_bytes`."""
    monkeypatch.setenv("LANCE_FILE_WRITER_MAX_PAGE_BYTES", "123")

    assert page_policy(1).max_page_bytes == 123
