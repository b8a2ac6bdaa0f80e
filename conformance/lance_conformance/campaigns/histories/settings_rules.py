"""Operations that leave rows alone: settings, versions, references."""

from __future__ import annotations

from random import Random

from lance_conformance.campaigns.histories.view import View


def config(random: Random, view: View) -> str:
    """Config, table metadata or schema metadata edited."""
    name = random.choice(("update_config", "update_metadata", "update_schema_metadata"))
    edit = {random.choice("pqr"): random.choice(("1", "2", None)) for _ in range(2)}
    replaced = random.random() < 0.25
    if replaced:
        edit = {key: value for key, value in edit.items() if value is not None}
    return f"{view.place}.{name}({edit!r}, replace={replaced})"


def field_metadata(random: Random, view: View) -> str:
    """Metadata of one column edited."""
    name = random.choice(view.schema.names)
    edit = {random.choice("pq"): random.choice(("1", None))}
    return f"{view.place}.update_field_metadata({{{name!r}: {edit!r}}})"


def restore(random: Random, view: View) -> str:
    """An old version made the latest."""
    return f"{view.place}.checkout_version({random.choice(view.versions)}).restore()"


def tag(random: Random, view: View) -> str:
    """Tags made, moved and deleted."""
    name, number = random.choice(("one", "two")), random.choice(view.versions)
    if name not in view.found.tags.list():
        return f"{view.place}.tags.create({name!r}, {number})"
    if random.random() < 0.5:
        return f"{view.place}.tags.delete({name!r})"
    return f"{view.place}.tags.update({name!r}, {number})"
