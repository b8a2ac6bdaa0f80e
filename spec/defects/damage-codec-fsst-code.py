"""D.damage.codec-fsst-code: the first code without a symbol."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-rmRF=$g!6b9h)9;K;wiChAaqO=GiI#kWnDOHNnp@>ii*IG+a(nOjTtdoO-xC<S0DTsS<5M0DX5M3O_K{`5ibWj_TW^fV_2"
    "mL;H?{NRaUGDm?HFuhO&Bn~_nYrH*F+K5ZUo9d&RwA~m5v_VJjVKEM00000008(uL|hy8=ew1NoodAWdM}OeIsgCw00000&="
    "+xM*sp)7M7*v>Jg)ar{W<^u000000Q{<mtzrMZSBdygjd)(~rTTXO00000008(?B3=yp`LC6T-D<?UdN0+_0{{R30002M-;$"
    "1|@mwrTem_v09__BL-E6O%EvC!EwR9?<OefOBnbu-^X?be7z0|p}zwA!Uc3K;&?TdqRE>q-BIhAofkEDAq%Okbp?{j{e)0>="
    "*{d~D`ZtBY7%JTf;W@lqPKh0@7k8kD1qnsY(GNQP;uyConxq7|Ris(k)Xb}Ja|Fk@oN7G0u$0i#^F<s2nK0oO%9v<q?SA+B9"
    ";KITF*0cV+JDA1bEBF8N7cS5K0Ngzir~"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
