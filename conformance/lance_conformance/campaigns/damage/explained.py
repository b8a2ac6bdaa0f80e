"""Explained wrong answers: damage that neither a reader nor `validate` can tell from a legal file.

Beside the bytes of `undetectable`, whose every change is legal, these few bytes make another legal
file when they change in the right way. Each is named by the group of its target and the leaf that
owns it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

EXPLAINED = (
    (
        "*",
        "tag and length of metadata",
        "an entry of a field's metadata under a number nobody knows is as good as none",
    ),
    (
        "*",
        "tag and length of fields",
        "a field that ends early leaves its last facts (nullable) to the message around it, which"
        " passes over numbers it does not know",
    ),
    (
        "manifest",
        "tag and length of files",
        "a fragment without a data file is legal: its columns may all have been dropped, and every"
        " other one is null",
    ),
    (
        "manifest",
        "fields",
        "a data file may list a field that was dropped, and lack one that was added: it is null",
    ),
    (
        "manifest",
        "tag and length of writer_version",
        "one bit makes it an entry of the schema's metadata, which may hold anything",
    ),
    ("manifest", "id", "a field that no data file lists is legal: it is null"),
    (
        "scalar index file",
        "fragment",
        "sets of rows keep rows of fragments that are gone: another fragment is one of these",
    ),
    ("scalar index file", "upper half", "the same in treemaps"),
    (
        "vector index file",
        "data",
        "a centroid or codeword may be any vector while every row stays next to its own: others"
        " are found, and no check can tell which was meant",
    ),
    (
        "vector index file",
        "value",
        "bounds of bytes may be off by less than a byte stands for: no code shows it",
    ),
)
"""Group of the target, name of the damaged leaf, and why nobody can see it."""


def explanation(group: str, leaf: str) -> str:
    """Return why a wrong answer is allowed, or nothing."""
    for groups, name, reason in EXPLAINED:
        if fnmatchcase(group, groups) and leaf == name:
            return reason
    return ""
