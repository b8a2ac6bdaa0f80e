"""Links of the site."""

from docs_links import broken


def test_links_that_lead_nowhere_are_named(tmp_path):
    """A page, a place and a file that are there, one of each that is not, one elsewhere."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html").write_text('<p id="here">x</p><a href="../two.html#L.a.b">t</a>')
    links = ["a/one.html", "a/one.html#here", "#L.a.b", "style.css", "https://x.org/y"]
    links += ["a/none.html", "a/one.html#gone", "none.css"]
    text = '<div id="L.a.b">' + "".join(f'<a href="{link}">l</a>' for link in links)
    (tmp_path / "two.html").write_text(text)
    (tmp_path / "style.css").touch()

    assert [f"two.html: {link}" for link in links[-3:]] == list(broken(tmp_path))
