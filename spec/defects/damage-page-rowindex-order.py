"""D.damage.page-rowindex-order: positions that fall."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPVqjoMOk!XJQpwCrAS%U!1i-+{D&j!_;ELyR7h+6S_zwe&S}Zx4#U%!e7K}l<TuM2KdC94|sd>ryDVcfcR>dVnrO73wM"
    "Tt3ZF(LM}(wv;C%mOYEA(qUN)LaQhEjFM!pcK#$CIMzHO(AtIRW5mbuvvOAeZ_jt`8lPzd9E;Xn79~(yt$Yd9E6xeSR|O0?1"
    "gN(thr>-wHX=e1tg}Y`XpB7mzD@gNl9=p3NR`tXs{SCTX6`naj|eQaVR)3F|s~pfPe}p-2kPNp)^cBnh`>0Lup1RW&)Bvj(*"
    "Mn1$|<h"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
