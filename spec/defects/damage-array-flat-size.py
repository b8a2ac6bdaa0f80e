"""D.damage.array-flat-size: a dictionary of one item, of several."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muRVrF4wV`m%;6oUupfQtbFM4+@Bl-7XKMo`)YO1nX6nEvF%lGOD4qDln=ILi>uGJ>;=;Vct4%M{Ks^B@~=$#6*tF(xbgh"
    "XF<{w&Iea%)E31Mhhl^UPdlWA$2ZQE_wZ&#JuEGz0|zq{1l*Uv7U2&PHAqQE0iz9#Kj<##l^~SfU$u|h^3d&!cC%=Q7J+wj4"
    "Omo4nwnJQBh(gT(6Op0T+)D7Z(Q?8y5=)hY*91oRJI{pAZihSd7C#h>3$y2*lz5vX~^?B^VbnLc(!6G&~!id_^c9CU3z64R0"
    "vT2*nHx%nUw`e$D`Frf^U"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
