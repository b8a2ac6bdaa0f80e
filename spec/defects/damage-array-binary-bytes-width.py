"""D.damage.array-binary-bytes-width: string bytes of 16 bits."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muNfB;4)Z2+Y?ptK;A)`QX>Xdp4_@SdW~<cw$2mp+@b=EbUci3&OSdFiP|3dJQwnR)3t3gww4848IC$@#gti5?h$ONL8Ih"
    "%s5=KMXKxu|aeiFj_DPuyJV$sdK4v$?NAN<|U`<rRF8)rvN33^_=r_N^|pEp?o1GE(Re#E+z&CAtnPo2{t7sAqOryE;$Tsjz"
    "vX@m2h1$Mp9fnLR?%NTx?t{91cPZLO>RWfDjW0qlEqfsF$mubOV%DfYLB|X=vDKGa`Z#!enOfarAQr0OEyAF8"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
