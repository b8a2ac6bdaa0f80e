"""D.damage.page-fullzip-num-items: one value more than there are."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-mcy-AV#c6ouEGw6SgFc>0?xrx2naa8d~g>B5pgLL_>FVVq>(cqVktg+4?t>_tkR>7oUDf3Wuc0D^@r<dDZUY!t8qMiIN%!"
    "#+xIP=>$(4snEIoWR8?DmcSAs_3u7Z`>CYUjAgEyL_zDX1hU;^ik)U3{)7^BNZm2SdBZgbgIKtPXqba3Hwt^xro0Uk8i~_U-"
    "8BLujOYSGryNeJyEZjVKGFP34)$nuhte1+~Vqgsnzt~gK;zn=7~;4xl(eS8@u6ka%>fx7ou-$GBNBL4h^&W(y&Myk{N5g2hY"
    "Ra3UX~f=>"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
