"""Texts for people: the metadata of a fragment, as protobuf prints it (face of `lance.debug`)."""

from __future__ import annotations

from pylanceref.late_names import late_names
from pylanceref.metadata import FragmentMetadata
from pylanceref.table_handle import OpenTable

__getattr__ = late_names(__name__, {}, "format_manifest format_schema list_transactions")


def format_fragment(fragment: FragmentMetadata, dataset: OpenTable) -> str:
    """Return the stored message of a fragment as text; `dataset` is not looked at."""
    del dataset
    return f"{fragment.to_message()}"
