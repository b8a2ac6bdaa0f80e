"""Failures: what ends the command with one sentence and an exit code of its own."""

from __future__ import annotations


class Failure(Exception):
    """Nothing can be judged or reported; the message is for the user."""

    exit_code = 2
    """2 for wrong use, 3 where an adapter or a folder for reports cannot be used."""

    before = ""
    """Words in front of the message."""
