"""D.damage.page-fullzip-details: neither bits per value nor per offset."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPVqjoMOk!XJQpwCrAS%U!1i-+{C*nZ?;ELyR7h+6S_zwe&S}Zx4#U%!e7K}l<TuM2KdC94|sd>ryDVcfcR>dVnrO73wM"
    "Tt3ZF(LM}(wv;C%mOYEA(qUN)LaQhEjFM!pcK#$CIMzHO(AtIRW5mbuvvOAeZ_jt`8lPzd9E;Xn79~(Jh_+{9E6xeSR|O0Y="
    "x}3EV*RSwHX=e1tg}Y`XpB7mzD@gNQrSU3NUK07%*FL2(fXoa4~TxI59D@K4yS`GAP{urIVpFOg@qkLT5s0Mkr<il0J@p&Hy"
    "|mVp0"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
