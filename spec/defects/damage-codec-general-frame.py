"""D.damage.codec-general-frame: compressed items that have no bytes."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-j+S@Sq4VFfcRx0|Ev{F!hgA{Q?XSps`i|uYy1$0|P5mfDK9$(9b2!B`L(1tneQO7`0e4^GeK23>YmK1(>-sh19uJx#ab86"
    "7!N%^-}Ya^HVbO(u?(+^K(jb^IV~PAto*cp<pf+28RYlA!a541_@>*7a=Du2QFE3okoUw0g36UK8cn2r6of0T(VLuTudAsN<"
    "2YaK$;26bI@QiVg%an!F(U;iv}ot07}b4X_$OGBZSU}(u`2d1SEYN{hR@^@nKT"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
