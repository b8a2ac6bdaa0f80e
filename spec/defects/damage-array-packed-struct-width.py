"""D.damage.array-packed-struct-width: a field of two bytes described as four."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-n=K%Syvg5Qb-xwuZq)7`z0*S_&cttQA2+Hl`FoL|nL5Ye-HdnkJHqsH?j16?`LKD<0buMO^qZb3W$sGjI?9rbqJeWOxfz1"
    "#?Yhc-6_jqF1Ct#-LNxLc5h0Ss4_4yjZ8@*iQnnBa$EuqvY0o@Pm61azkziG8ugf?Pin|dk1}Vkh+YImS(SxqbCuL^5{j3;w"
    "UfNah&>vyFc5JuE5gmW+`pXSI5+7o406_Hg;#%diAxuH%#Mlk{qj=H3GgP1je?db#M5ZE~)*;G{`dl`P<{3I<&|{2DPYRbQs"
    "9u6<Q)*GYy@8Pkt(cf#E}a=DVV&_@-FTuW-(ZBB}(?;cRd|`~(V&TB8"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
