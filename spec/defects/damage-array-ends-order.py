"""D.damage.array-ends-order: list ends that fall."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPfB+6C%><<xp)@O$_P_zeJtzZ=P&=8S_ORfw3mf3l=aLX&Ojh_01B_ZMIhn;J28<SrT*5*unI);Y5{z1`nRz9~Mj$}}R"
    "xV8;buLvddHtNkyyR59)V$>Ul+3*JVm;^loYLGpS14bIiHkwVg^Q6vh*3j=Rmn=og3F9c4nvb;QBh(gT#ty75EqXS7Z(Q?8y"
    "5?QgAjuNn*>P~dU7#4G%yM=F^T}~v=Or6vLI-un2?B&5ZFFOAqF9!%^V6sOdO1#p&?obrBk3$S_b7GfYQcL8m9ghRNXH|L`s"
    "093T6f$M?Yr(V#0IC"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
