"""D.damage.file-schema-logical-type: a letter of the type is wrong."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0r(MrQm42F|fM+puOxp5ncMG?`9TB{c-P9{azMG;@2&N7tk6kG@H&gbzdd@?oN&QQG3u^&SCNy7I-40M+gfDa!k1OU=n^"
    "gddWPvC*k1OPbAv8Ea7u3r9e&*$6}%!1Fk@No6XmM3w9XULm^_YM3xtc}X&N88sa8R7%k=RMv&8f3PYhq>()4>}x$Nii4??T"
    "zz74ANnOju4p!?VL)?5pVrIi;u&*te>aZq!^d7&h?hZ<OeZol<q>Xl)YDcN5ut-yOK-3_zTzM4XJRZ<x7nnc%=fjtKX`Ivj%"
    "U@Pn-wm+s@AScWKrW`d*`HA*9#0$rp%7nE("
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
