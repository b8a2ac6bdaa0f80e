"""D.damage.array-dictionary-key-range: a key beyond the dictionary."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muRV*bU-#?HvZ%rf8<g9qt=iva>eptKy6)_~GRP}&AcyFqD~{^Z1x)b#wKN(BQr%Mi{og0qa_EE71(6wWg9ARBPWa7hU<C"
    "M*1h0Y)vh;*z4wymSLb3nqbHMlMYubuLvddHtNkyyR59)V$>U6rgOeo^yUqX>Oh?lrO}@#UPZ$#maDiv4Kg5rI*pdO`?}kDM"
    "BcWD}+l9L$hO1QDP-ruaT7j7mpAZ7Y7#`7Yhf65QC7Mkqj4~5DynvjKe{QiGxuH#Nq(5m?YdK*cUQF!f`q@JR6{VMJOL8Z@~"
    "l&Zz#<O#S9G03_gy2&H&PwaZC"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
