"""D.damage.file-schema-children: a list without an item."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0r(MrQ$426?eMhOmoa$_BeWgwy#wH7ai6qycT7e#!9I?EVzE!Ym+ov*XE@X6G4`-kF<jvWZ$kc96*3=FptfD0cg1OU?7^"
    "gi5@PvC&j1OT|qv8x%{wqE~n&pq}8Q~z@<Ja_U*RfpI^J`{ZN@aL>m)i0A`tWz??XL8CXe0-6o#V8B1VpKlsunGocKARTz)("
    "bI6p9%UxWIXC#NyH%^{XUB>gU587CF#7J)w0L!j>F{o5o(m-MzDmPH+)CM`HH)dn6LlB9q_(1IMZ>Z#TLBNfaB)1s_Cl1!uq"
    "-OV0~=udcRAnen;PHv@C?=_F?b^K{%NL"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
