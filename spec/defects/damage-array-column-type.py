"""D.damage.array-column-type: a map, which 2.0 cannot store."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0t-%0{O6vp?=tg;+}<Rmsk)FS<rFfoWlBGxRBh`O#I*tVslbuC>Bp$p$5=vjK0-lJCcY!O|U`rVxQ4t(b~Gt7V%3%Cld^"
    "?z#8Tq5VXK9!(8Wq!haC&CMyCveTrL{N}T=b;1^Ad%h(y{3Xfx)Zj$Zdd}GBYE%jlrZCFBe=B$<|y^#_+3xQsGVvA;ZAulAR"
    "}>;)^Qb=w|ysYy`mSmt(z#)Db`wkw;3F<CxIFrB4`9k$$W(@+{L9op=!JB^u9CMJmCx>8kk1iuu02ECB^}6DUsixHC!2q5(R"
    "CX!DlG#K9I<Wh;TqQ?vEramKS~>hN6{WkT5`vb&JQSze8V;03(9$Q3b7$@Em1{hG1Z@IRL-$+j`_DHp_qHoc$g97xo|QpV`}"
    "-zha-vyOeQ#l|NrsAFiZ!Qa!DG0kLV@h5"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
