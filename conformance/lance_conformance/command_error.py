"""Errors that end the command with one sentence and an exit code."""

from __future__ import annotations


class CommandError(Exception):
    """An error for the user; nothing can be judged or reported."""

    exit_code = 2
    """2 for wrong use, 3 where an adapter or a folder for reports cannot be used."""

    prefix = ""
    """Text before the message."""
