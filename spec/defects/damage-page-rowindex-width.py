"""D.damage.page-rowindex-width: row numbers of three bytes."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muNWM^Px00Kr%1`jd-0|$=>C4ftxOG1b-S>ZnnFlw>nWEPhgFj_Ej2@A1gmZauNFlw=8=9L(lfdmDZxHN^-xm3C2^>Y&Ql"
    "2i3k^OEyZGV{`l^_=r_N^|pEp?o1GE(RfYE+z&CAtoM92__|LAxkcEE?IPKMuvI;iRr06iIw@KB|>6SA{-n791;Q=%m&O>EL"
    "=<+0!~cKOq&@Xpae=cKxtzr4U<=AgwW<tnh}bbfTWM3pECeuyicJ"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
