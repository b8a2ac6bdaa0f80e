"""D.damage.page-miniblock-table-size: a chunk table of three bytes."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-jkKU|{f|0I)IeFi0>U03#6p0|FTP|NsB>K&k=6XUAd}mo%585M#2!e;8oYV$IAeF*Y(_v|toq<I)sT=Tha8*Uw4JOHS2G%"
    "}dTt$;?YH)^pC!Db3Auh4O`%xEO>yxR@9mgqWBOB-oT}gsiwMxMb0_85!yYB&MhOBv$5^mI#S+i3+iBF>we;fk*`-MrI2}54"
    "Hft`B1-<Lg@x5Ef1w(@*<27T7?necMxU*LLWyzX8>?DNg@"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
