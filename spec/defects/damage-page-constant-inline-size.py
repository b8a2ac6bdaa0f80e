"""D.damage.page-constant-inline-size: an inline value of five bytes."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-rHV=8_a*Ojh_01B_a%nRz9~Mh1))i~^ionnLPas$BB=If;46sd}k-$@wXndFjP^&iOf|xp}Toz7P`^gOI5Nr;?$NK9??+E"
    "V^<dL%o2+^i-e3%KXw2As!(vEk;HoRt6A|XMlht22>!AMmIv~iBOsmikX1W$I;Ij0HMn$iU"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
