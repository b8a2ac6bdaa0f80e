from dataclasses import dataclass


@dataclass(frozen=True)
class MiniBlocks:
    encoding: object; counts: object; buffers: tuple
