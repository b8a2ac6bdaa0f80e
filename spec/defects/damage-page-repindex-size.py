"""D.damage.page-repindex-size: a repetition index one byte short."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-m`VU|{f|0I)Og0ig)clz(8r2xKvWA&CC>4@faEF))L9AT^9&J_A?;1X!Rt$+e%A0Tqy{pG%)hLWnV0;Xe#8YO&;G7MB<>S"
    "}<}63$bLDq~=O6YO!YKl^7d=1O-^RG=<c;RJr8!a}x8CQ}t5wlJiqC^U{m;obz)^bMsuGd?6+-2B8ox76yj{j6%#T9{dulO0"
    "GiAT#j6_=sJxI^#T&pQ+*OE^Gi#F6u9KLSh$!t1cbn(6o^zXVq#{qV02*gU=3h2W`y{)5$0(q-x$h;$!~$uM;H;xAmPu%;N$"
    "4$3;@GtZYc"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
