"""D.damage.array-packed-struct-size: a packed buffer one byte short."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muRU|>*iVE+FfNH_fVAQ^DwbD0Y<CM*1h0Y)vh;*z4$<PrnMAXzTaoW#83RNd6P<ouM(ymYIA#N_PM6d@L%ic~HEA;v@rM"
    "lIINyb?n*14au*kVujQlNM`QPJUtuOe9%?S&Ow4sK^2&BEZC@DWuM&$|bK4Hd_y7cCnsweokp_o-33u#KgrQ6vxHLAjHTk!K"
    "4%-6vP$4C5NHOv8X7q60S$jONWa`h>MGZi;atgLqLcDiKl?V;}BvHV%W?80o_pA0ZJD`X_&knBZT&Y(u`2dz`)Gl<LKuM04("
    "QJTm"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
