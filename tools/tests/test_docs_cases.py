"""Cases of the site: one page a topic, bytes annotated."""

from docs_cases import pages
from lance_conformance import cases, register
from lance_conformance.matrix.judged import Judged
from sources import ROOT

FIXTURES = ROOT / "fixtures"
NAMES = ("file/2.1/miniblock/int32", "file/2.1/miniblock/neg-int32-width")


def test_a_topic_has_its_cases_with_bytes_and_verdicts():
    """The owner of each byte is its title, the patch is marked, clauses lead to their chapter."""
    every = [cases.load_case(FIXTURES / name / "case.json", FIXTURES) for name in NAMES]
    who = Judged("x", "1", {NAMES[0]: "pass", NAMES[1]: "crash"}, {}, {}, {})
    found = dict(pages(every, register.load(ROOT / "spec" / "register.json"), [who]))
    page = found["file-2.1-miniblock"]

    assert {"index", "file-2.1-miniblock"} == set(found)
    assert "| [file/2.1/miniblock](file-2.1-miniblock.md) | 2 | 1 |" in found["index"]
    assert 'href="../spec/30-pages-2.1.html#L.page.miniblock.num-items"' in page
    assert 'title="word of chunk 0 (chunk-word)"' in page
    assert 'class="patched"' in page
    assert '<span class="chip good">x 1: pass</span>' in page
    assert '<span class="chip bad">x 1: crash</span>' in page
    assert "\n\n" not in page[page.index('<div class="case">') : page.index("</div></details>")]
