"""D.damage.array-bitpacked-size: a packed buffer one byte short."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nhlUt!=u0pOD6k`!W0R`?GCj9RRjc_oHs28<Sr0&HBGLh4+qT=M!kiFwJXdZ~HI`6-!s>BV}^`8lPzd9F~t5EB=JkQEmrg"
    "AgOL1e=n9kRF!~mmG#B$D*RdO1K`bAPx>z0Rbrn1;%&=2uO$04p3SiO2g!jLFsEynh}Z_7?>G+9Q~XDFB3he"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
