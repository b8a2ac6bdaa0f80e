"""D.damage.page-levels-rows: levels of one row more."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muRV1z;svH(aYGXoRZ`nmMEB!n1~75>8jqZUg}W^suDqXi?Eun<dTNouYHqZVssUWu_0NKk-<OH)XlOO;DrKPNFSIaMz;F"
    "F8LYGcUbZ&pAJ*G&j!`$`@kdVh}RtVq$OrvbZEzl(dC3xzxF2(X|;F>IEdGr}`vT=9iWTu?ewgF)_1kW`KYcDBS?1jiEG5UY"
    "rp^t3zo<C<X<HkE5S60H<qAWB"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
