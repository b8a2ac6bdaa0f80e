"""Texts for people: the metadata of a fragment (face).

Has the name of pylance's `lance.debug.format_fragment`; the text is that of protobuf.
"""

from __future__ import annotations

from pylanceref.late_names import late_names
from pylanceref.metadata import FragmentMetadata
from pylanceref.table_handle import OpenTable

_LEFT_OUT = "format_manifest format_schema list_transactions"
__getattr__ = late_names(__name__, {}, _LEFT_OUT)


def format_fragment(fragment: FragmentMetadata, dataset: OpenTable) -> str:
    """Return the stored message of a fragment as text; `dataset` is not looked at."""
    del dataset
    return f"{fragment.to_message()}"
