"""D.damage.page-fullzip-control-word: a level of 2 over one layer of nulls."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPWMp7q@E{v-d2+c6F(xbghXF<{mZbdr90NuR#volTrJTgP<W$|%yyX0p%)E4~;*z4$<dV{&#2mPo5PMo_PEJ*3fdDg?r"
    "jR<9Dwn)ISeG75MX{c9eokp_o-0fT6BmP!6Bi?c5F?uevyz378J7u{EV?EmL%o2+^i-e3%KXw2Az>*&0Y(W94Q2yoD;6#$4h"
    "|<q=3WK}$cNGnP}&zt!{q-!X&y!h%?QOzK+?z2&lv#x`b_2"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
