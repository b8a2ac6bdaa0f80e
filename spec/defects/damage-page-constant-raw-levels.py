"""D.damage.page-constant-raw-levels: levels with a codec beside a value."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-rHV=8_a*Ojh_01B_a%nRz8<CI*Zai~^ionnLPas$BB=If;46sd}k-$@wXndFjP^&iOf|xp}Toz7P`^gOHsBr;?SB1(z9@E"
    "V^<dL%o2+^i-e3%KXw2AyFY=Ek;Ho4h9flWMHsj;bP(tkY|8^Yz9;yk4ASv=~+;k5sI0B(8tlw82~ejDMk"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
