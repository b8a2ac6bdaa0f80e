"""D.damage.page-siblings-validity: two fields that disagree on a null struct."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-pO!O-sW-5QcYVYY2l#I(P^LH3*{i5M#U)inKKpa;TzbPa%d<s2i{ev>wEtrhhED<^#opMf8PXc6Q(4S$5VF;h!XhAxwcn="
    "m1d^ASwYCrPlQi|AD`)xg}F)OXv2Nh_vUYd(ePvhS+&)1YKj1J>+rb0a*-78@d}am7Vz>^nlt7D;rD8OilF`T9S_WkPc|?WF"
    "DzFaT67%clvPQ2I)M%SL3>7B*8a?V#tV&E%(P9(1>=vxA~{;bu>*T(JIX|c4(Jdgr?Qmy4a+Tl~dNHk5cw9{1yF@TF>wTnt!"
    "DE13stzI(|n#PsKOcsQ4urLK)PveyT_QTGx-F`2$r7>ay|ovC6mjX=^^vWONn01Gq4i5C"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
