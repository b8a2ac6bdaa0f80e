"""Opening: the store, the source or the sink of a URI."""

from lanceref.storage import (
    LocalStore,
    create_sink,
    open_source,
    open_store,
    store_options,
    wrapped_stores,
)


def test_one_object_is_written_and_read_by_its_uri(server, tmp_path):
    """In a bucket as in a folder."""
    options = store_options(server.options)
    for uri in (server.uri(), tmp_path / "x", f"file://{tmp_path}/y"):
        sink = create_sink(uri, options)
        sink.write(b"123")
        sink.close()
        source = open_source(uri, options)

        assert b"23" == bytes(source.read(1, 9))
        source.close()


def test_a_store_is_wrapped_only_inside(tmp_path):
    """The first wrapper is innermost; afterwards there is none."""
    with wrapped_stores(lambda store: [store]), wrapped_stores(lambda store: (store,)):
        ((inner,),) = open_store(tmp_path)

    assert isinstance(inner, LocalStore)
    assert isinstance(open_store(tmp_path), LocalStore)
