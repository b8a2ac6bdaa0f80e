"""D.damage.codec-general-size: lengths of one byte less than their size."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-o!POHaZ;5C`zx7POA2xFP~RcqkT79)btsNhKy8d>|L&Ma2RJ1FfNOkP}A^9Q+6#{9Jw%^j|2N=t(E}WjdYNO}E)TXRON@J"
    "NaiY_J-ASFc=0N7`9{*$lw4cOu!^4Fa-qD;DQ;LwRdsDJP23-4=jQgmcR#o2*5I|z$&ak5JC`!2&}^fL}3$Dh}mD7u;$C0xe"
    "H~)-C)%DK8IDs!J6BGZAd~2(vX22`y8*1@;C;6{eN^#SAuJyk8$vXv!=Il*$m&~ML&spN!KdLimn;un*OkVZ<<0js?}nc0zX"
    "=s(RgZBOtWU_Laujq-944!LZv7L)5Fo!c+^bgje5JGAKSH%h>2U0*nyCh7s=OCBbVZW&VDb<=28W`Dm70_&qli?667SAI2U0"
    "GlK03%4w96Ra1{xe2dqjFEGA`o>brF<5dBeNUAw-q>v8{48s(0i`PYq-+3DeV{u2sagXs"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
