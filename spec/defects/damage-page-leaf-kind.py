"""D.damage.page-leaf-kind: lists in a column of numbers."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-m87@Sq4VFbFXG0|Ewy273ku1_vMl;sys|^>aycNeVG0EBuE6MlIINyb?1L14au*0VXa@A$2ZQE_wZ&#JuEGz0|zq{FKbR^"
    "kO~d{G8I<JXa`Rh>43q$c>AM!9j?LNkW22$x6tA%Zy7FU7L}iUO-}cs!w8Nerbu2D3`DlR}=>alMo9R6NiEkBhX3@ruhsIPz"
    "<FTptL-chRF*tLTDu@%?QOzK+?z2&lvz_PfjW"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
