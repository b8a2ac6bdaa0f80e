"""Prose of the code: every rule finds its breach, and good prose passes."""

import lint_prose
import pytest

GOOD = '''"""Levels."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def counts(levels: Ints) -> Ints:
    """Return how many children each slot has, (slots,); nothing is left behind."""


def refuse(name: str) -> None:
    """Do nothing more than turn a name away. Raises ValueError."""
    raise ValueError(name)


class Reader:
    """Reads the rows of one column, in pieces, in their order."""

    def _own(self, levels: Ints) -> None:
        """Private."""
'''

NAME = "reference/lanceref/pages/levels.py"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (", (slots,); nothing is left behind", "; nothing is left behind", "their shapes"),
        (" Raises ValueError.", " But why is not said.", "raises an error"),
        ("Reads the rows of one column, in pieces, in their order.", "Reads.", "less than 7 words"),
        ("in their order", "one behind the other", "'after' is the plain word"),
        ("in their order", "whose end is told", "'is reported' is the plain word"),
        ("class Reader", "class ToldReader", "'told' is no term of the field"),
    ],
)
def test_each_breach_is_found(repository, old, new, complaint):
    """One change of a good module gives one finding."""
    assert [] == lint_prose.check(repository({NAME: GOOD}))
    found = lint_prose.check(repository({NAME: GOOD.replace(old, new)}))

    assert 1 == len(found)
    assert complaint in found[0].message


def test_pages_are_read_too(repository):
    """Words in Markdown are found with their line."""
    found = lint_prose.check(repository({"spec/10.md": "# One\n\nA word behind the last.\n"}))

    assert [("spec/10.md", 3)] == [(one.path, one.line) for one in found]


def test_a_sentence_of_a_chapter_is_not_long():
    """Forty words are allowed; code is one word; fences, tables and labels are no sentences."""
    forty = " ".join(["word"] * 40)
    fine = f"""{forty}. {forty}; {forty}.

```
{forty} {forty}
```

| {forty} | {forty} |

* {forty}
* `{forty}` {" ".join(["word"] * 39)}
"""

    assert [] == list(lint_prose.long_sentences(fine))
    ((line, message),) = lint_prose.long_sentences(f"{fine}\n{forty} word.\n")
    assert fine.count("\n") + 2 == line
    assert message.startswith("a sentence of 41 words")
