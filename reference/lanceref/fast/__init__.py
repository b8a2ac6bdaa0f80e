"""Fast forms: what exists for speed alone. Nothing here decides what is right.

Each function takes the place of one plain function of the same signature (`core.plain`), and a
property test holds it to that one. Importing this package registers all of them.
"""

from lanceref.fast import bitpacking, fsst, joining, mini_blocks, vectors

__all__ = ["bitpacking", "fsst", "joining", "mini_blocks", "vectors"]
