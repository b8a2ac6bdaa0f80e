"""D.damage.page-repindex-range: a chunk that finishes 2**62 rows."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nJd@Sq5=FmM1N4+A3u0}z8q1~`iuh*^R79}wWu&kWJv0M$scYaD3gekLHv0>o^@xu1bt_jAQ^$qO+iEBuE6MlJ4~%;FNg;"
    "*z4$<Prl$3q~#>A(qUN)LaQhEjE}aP>eBAf=Pi<i#0Q^#MlU`jxkAs8AVKhnM+eholBKVUOy)>FF92&H7_|oB{MI*SkE~>r!"
    "+Uu70MT4;$jdA=3-%RXkZj#X3`LlU{-Pwa^iB}l10~PWT+RAn4apBSeaj1A|%fx%f-UQ#33LACZ#~6f)O(#BdZ0Y1EU8?_J?"
    "w@9bjx=I>1C#7d(W<Y6CQi5}6=$6O`Wol~087Vd@`4)iE=}5(NV|Sug=vK8}9Q04!;)=>"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
