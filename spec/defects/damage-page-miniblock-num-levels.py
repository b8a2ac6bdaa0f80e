"""D.damage.page-miniblock-num-levels: levels counted in a page without levels."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-m87@Sq4VGw?9{0|HhC1_m}DW(Q&rpIH4|(p-{4jL8cBVSrJKH8Zco*vNp<f>D5(OH)XlOO;DrKPNFSIaMz;FF8LYGcUbZ&"
    "pAJ*G&j!`$`@kdVi0oRVq$O*Vq%hzU{*2_GU77el10~MWT+RAn4apBSeaj1BE-+dE5*Xa#Gzos2(-+Dc|HRK<U;8NC@l}AVe"
    "&kT5LyOGGeR*Fko0l%a|Qq@M^7{"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
