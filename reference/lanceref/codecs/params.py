from dataclasses import dataclass


@dataclass(frozen=True)
class Params:
    compression: str|None=None
    structural_encoding: str|None=None
def params_of(m): return Params(m.get('lance-encoding:compression'), m.get('lance-encoding:structural-encoding'))
