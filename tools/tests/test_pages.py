"""Prose: computed numbers and links."""

import prose
import pytest


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2**16", 65536),
        ("-(3 + 4) * 2 - 1", -15),
        ("1000 // 64 % 4", 3),
        ("1 << 12 | 0xf ^ 3 & ~0", 4108),
        ("1 / 8", 0.125),
    ],
)
def test_arithmetic_is_computed(expression, value):
    """Operators have their usual order and meaning."""
    assert value == prose.evaluate(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "n * 4",
        "len('x')",
        "2**9999",
        "9**9**9",
        "1 << 99999",
        "1 / 0",
        "1 << -1",
        "",
        "1 +",
        "True",
    ],
)
def test_what_is_no_plain_arithmetic_is_refused(expression):
    """Names, calls, giants and faults of arithmetic raise ValueError, at once."""
    with pytest.raises(ValueError, match="plain arithmetic"):
        prose.evaluate(expression)


@pytest.mark.parametrize(
    "text",
    [
        "`2**16` (= 65536)",
        "`2**16` (= 65\u2009536 bytes)",
        "`2**16`\n(= 0x10000)",
        "`10 / 3` (= 3.33)",
        "```\n`2**16` (= 1)\n```",
    ],
)
def test_right_numbers_pass(repository, text):
    """Thin spaces, words after the number, hexadecimal, rounding; fenced blocks are not read."""
    assert [] == prose.check(repository({"spec/10.md": text}))[1]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("`2**16` (= 65535)", "is 65536, not 65535"),
        ("`10 / 3` (= 3.34)", "not 3.34"),
        ("`3 / 2` (= 1)", "is 1.5, not 1"),
        ("`n * 2` (= 4)", "not plain arithmetic"),
        ("`2**2` (= four)", "does not start with a number"),
        ("[a](b.md)", "link to b.md, which does not exist"),
        ("[a](../../x)", "does not exist"),
        ("[a](#nowhere)", "link to heading nowhere"),
        ("[a](20.md#nowhere)", "link to heading nowhere"),
        ("![a](b.png)", "link to b.png"),
    ],
)
def test_wrong_numbers_and_links_are_found(repository, text, complaint):
    """Each is reported with page and line."""
    root = repository({"spec/10.md": f"# Title\n\n{text}\n", "spec/20.md": "# Other\n"})
    _, findings = prose.check(root)

    assert [("spec/10.md", 3)] == [(finding.path, finding.line) for finding in findings]
    assert complaint in findings[0].message


def test_right_links_pass(repository):
    """To a page, a heading, a folder, a repeated heading, the web; code is no link."""
    links = "[a](20.md) [b](20.md#a-b--c) [c](../spec) [d](#two-1) [e](https://x.y/z) `[f](g)`"
    page = f"# Two\n\n# Two\n\n{links}\n"

    assert [] == prose.check(repository({"spec/10.md": page, "spec/20.md": "## A `b` — c!\n"}))[1]
