import numpy as np

from lanceref.codecs.encoded import MiniBlocks
from lanceref.codecs.values import *
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding as CE


def flat(bits):
    c=CE(); c.flat.bits_per_value=bits; return c
def encode_levels(levels, counts, version):
    return flat(16), levels.astype('<u2').view(np.uint8), counts*2
def max_value_bytes(v):
    if isinstance(v,Fixed): return v.bits//8
    if isinstance(v,Variable): return int(np.diff(v.offsets).max(initial=0))
    if isinstance(v,FixedSizeList): return v.dimension*max_value_bytes(v.items)
    return 0
def encode_mini(v, params, version):
    if isinstance(v,Fixed):
        n=4096 if v.bits==1 else 1<<(int(4093//(v.bits//8)).bit_length()-1)
        counts=np.minimum(n, v.count-np.arange(0,v.count,n))
        return MiniBlocks(flat(v.bits), counts, ((v.data, -(-counts*v.bits//8)),))
    if isinstance(v,Variable):
        c=CE(); c.variable.offsets.CopyFrom(flat(32))
        cs=[];parts=[];a=0
        while a<v.count:
            n=1
            if v.count-a>1:
                n=2
                while n<4096 and a+2*n<=v.count and (2*n+1)*4+v.offsets[a+2*n]-v.offsets[a]<=4096: n*=2
            n=min(n,v.count-a); o=v.offsets[a:a+n+1]-v.offsets[a]+(n+1)*4
            b=o.astype('<u4').tobytes()+v.data[v.offsets[a]:v.offsets[a+n]].tobytes(); b+=b'H'*(-len(b)%4)
            parts.append(b); cs.append(n); a+=n
        return MiniBlocks(c,np.array(cs),((np.frombuffer(b''.join(parts),np.uint8),np.array([len(p) for p in parts])),))
    raise NotImplementedError
def encode_zip(v, params, version):
    if isinstance(v,Fixed): return flat(v.bits), v
    if isinstance(v,Variable):
        c=CE(); c.variable.offsets.CopyFrom(flat(32)); return c,v
    raise NotImplementedError
def encode_block(v,p,version):
    if isinstance(v,Variable):
        c=CE(); c.variable.offsets.CopyFrom(flat(32)); o=v.offsets.astype('<u4'); return c, np.array([32,8+o.nbytes],'<u4').tobytes()+o.tobytes()+v.data.tobytes()
    return flat(v.bits), v.data.tobytes()
