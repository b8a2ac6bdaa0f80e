"""D.damage.file-footer-column-metadata-start: column metadata starts beyond the file."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0r-Acni5QS&PSi)d2%#CeP42p<e#F%=aVkHuUUIg(KVhyFxZosBs?|dGgqEDty+7*9pwDiERdzd|Z2iAk`N&;}<O@#nJI"
    "?Lw675M}Xc-jB}=RG#GL*35vKk|IRO~K56{}djt4@}vPLOe&_7JO*n_hoHdJ`GG?x8xBY$sr%`?#VDSy*$WGuXxnuI7o`&WM"
    "pow7h;f@31T7g8nkyN5r@3<I~JV=_gOzrvuQCYWs~bIhspIL)GFPjU@1E<I77wxio2F8zWfW<<SnUiUdxplTku*1?o@xP8Z8"
    "cZwSH<nSl@vkiuY-8N$Bet%?Ba9xl29(g>snz"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
