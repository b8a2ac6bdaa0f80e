"""Fast forms of what reads data files; importing this module registers all of them."""

from lanceref.fast import bitpacking, fsst, joining, mini_blocks, single_rows

__all__ = ["bitpacking", "fsst", "joining", "mini_blocks", "single_rows"]
