"""Settings: config and metadata of a dataset (face).

Has the names of pylance's `LanceDataset`: config, table metadata, schema metadata and the metadata
of fields are maps of their own, each edited by a commit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from lanceref import operations
from lanceref.core.errors import OperationRefused
from lanceref.transactions.manifest_builder import Staged

from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    from lanceref.proto import transaction_pb2

    from pylanceref.operation import DatasetBasePath

Edit = Mapping[str, str | None]
"""Values by key; None takes the key out."""


class Settings(OpenTable):
    """The settings of a dataset."""

    def config(self) -> dict[str, str]:
        """Return the config."""
        return dict(self._snapshot.manifest.message.config)

    @property
    def metadata(self) -> dict[str, str]:
        """The table metadata."""
        return dict(self._snapshot.manifest.message.table_metadata)

    @property
    def schema_metadata(self) -> dict[str, str]:
        """The metadata of the schema."""
        return dict(self._snapshot.manifest.schema.metadata)

    def update_config(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Edit the config and return it."""
        self._edit("config_updates", values, replace=replace)
        return self.config()

    def delete_config_keys(self, keys: Sequence[str]) -> None:
        """Take keys out of the config."""
        self._edit("config_updates", dict.fromkeys(keys), replace=False)

    def update_metadata(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Edit the table metadata and return it."""
        self._edit("table_metadata_updates", values, replace=replace)
        return self.metadata

    def update_schema_metadata(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Edit the metadata of the schema and return it."""
        self._edit("schema_metadata_updates", values, replace=replace)
        return self.schema_metadata

    def replace_schema_metadata(self, new_metadata: Mapping[str, str]) -> None:
        """Put other metadata in place of that of the schema."""
        told = (
            "replace_schema_metadata is deprecated: use update_schema_metadata(..., replace=True)"
        )
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        self._edit("schema_metadata_updates", new_metadata, replace=True)

    def update_field_metadata(
        self, field_updates: Mapping[str, Edit], *, replace: bool = False
    ) -> None:
        """Edit the metadata of fields, given by their paths. Raises OperationRefused."""
        transaction, schema = self._new_transaction(), self._snapshot.manifest.schema
        transaction.update_config.SetInParent()
        updates = transaction.update_config.field_metadata_updates
        for path, values in field_updates.items():
            if not isinstance(path, str):
                raise TypeError(f"field_updates: {type(path).__name__!r} is not 'str'")
            field = operations.schema_evolution.find_field(schema, path)
            if field is None:
                names = [one.name for one in schema.fields]
                raise OperationRefused(f"Field '{path}' not found.\nAvailable fields: {names}")
            updates[field.id].CopyFrom(_update(values, replace=replace))
        self._commit(Staged(transaction))

    def replace_field_metadata(self, field_name: str, new_metadata: Mapping[str, str]) -> None:
        """Put other metadata in place of that of a field. Raises OperationRefused."""
        told = "replace_field_metadata is deprecated: use update_field_metadata(..., replace=True)"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        self.update_field_metadata({field_name: new_metadata}, replace=True)

    def base_paths(self) -> dict[int, DatasetBasePath]:
        """Return the base paths by id."""
        from pylanceref.transactions import base_of

        return {one.id: base_of(one) for one in self._snapshot.manifest.message.base_paths}

    def add_bases(
        self,
        new_bases: Sequence[DatasetBasePath],
        transaction_properties: Mapping[str, str] | None = None,
    ) -> Self:
        """Add base paths, and return the dataset. Raises OperationRefused for one there is."""
        from pylanceref.transactions import base_messages

        transaction = self._new_transaction()
        transaction.transaction_properties.update(transaction_properties or {})
        transaction.update_bases.SetInParent()
        transaction.update_bases.new_bases.extend(base_messages(new_bases, None))
        self._commit(Staged(transaction))
        return self

    def _edit(self, name: str, values: Edit, *, replace: bool) -> None:
        transaction = self._new_transaction()
        transaction.update_config.SetInParent()
        getattr(transaction.update_config, name).CopyFrom(_update(values, replace=replace))
        self._commit(Staged(transaction))


def _update(values: Edit, *, replace: bool) -> transaction_pb2.Transaction.UpdateMap:
    """Return an edit as a transaction holds it."""
    from pylanceref.operation import LanceOperation
    from pylanceref.transactions import map_message

    return map_message(LanceOperation.UpdateMap(values, replace))
