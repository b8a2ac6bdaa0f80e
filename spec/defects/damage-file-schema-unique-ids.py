"""D.damage.file-schema-unique-ids: a field id of -7."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-j+S@Sq4VFmN#Z0|G_{2q0Cz0>$?8fbHi1+RX{Xi9j(BpIH4|(OeQjjKvE7VSrJKt+=G9G`YlpkxM{`u|k4Ti#0Q^#LUEi("
    "SnhSUx=|%f(c29j1Xg$#80?p1&CZ`UOG@YlK>-^rjR<9Dwn)|PGVkis$Obda()U>vRKbKKc_S|&lSoSV&Y;Da^zxSa1df*5|"
    "Ch2G8HoBGUSp)*Jfm>7m%2q>XTTRUs@t0z{MxU!o|elV8p}-besoCws~-|G%y}u1llJ7w9iV&g3FAMeWF~#QXE2TTp&9YjF="
    "fAmc~P)J`b7#&O-U6P(A~c9}nfi)H^Xj=p-hDGA1x)WbkqHa|Qs`1f^8"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
