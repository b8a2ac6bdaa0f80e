"""Sources: which files the linters see, and what they know of one."""

from sources import Source, python_files, text_files


def test_generated_and_hidden_files_are_passed_over(repository):
    """Message modules, caches and hidden folders are no sources."""
    root = repository(
        {
            "tools/a.py": "",
            "tools/x_pb2.py": "",
            "tools/.venv/b.py": "",
            "tools/__pycache__/c.py": "",
        }
    )

    assert ["tools/a.py"] == [source.name for source in python_files(root, "tools", "missing")]


def test_text_is_known_by_its_end_or_its_first_bytes(repository):
    """A script without an end is text, and so is .ci; other hidden folders are not looked at."""
    root = repository({".ci/run": "#!/bin/sh\n", ".git/x.md": "", "a.md": "", "b.lance": "#!"})

    assert [".ci/run", "a.md"] == [p.relative_to(root).as_posix() for p in text_files(root)]


def test_module_names_start_at_the_package(repository):
    """The folder of the distribution is no part of the name, and `__init__` is its package."""
    root = repository({"reference/lanceref/file/__init__.py": "", "noxfile.py": ""})
    package = root / "reference/lanceref/file/__init__.py"

    assert "lanceref.file" == Source(root, package).module
    assert "noxfile" == Source(root, root / "noxfile.py").module


def test_docstrings_and_comments_are_told_from_code(repository):
    """Docstring lines are those of module and functions; comments come with their line."""
    root = repository(
        {"tools/a.py": '"""One\n\nthree."""\n\n\ndef f():\n    """Six."""\n    # x\n'}
    )
    source = Source(root, root / "tools/a.py")

    assert {1, 2, 3, 7} == source.docstring_lines
    assert [(8, "# x")] == source.comments
