"""D.damage.page-siblings-rows: a leaf without pages beside one with three rows."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nJd@Sq5=FmM1N4+A3u0}z8q1~`iuh*^R79}wWu&&+@dNVVUAM($?<k}N>XMq~GL#d66DF(xbghXF<{?wrix620P*qSE9N1"
    "4au*E+HY7%#zex2}Uh8m?%(;F;Rj^fl-S!Gq1$h2&#@TNrD+gOn{k7Q%Idll}lbfCowNMRWCI!IX@*cFTGgLIX|Z~H_sKy7h"
    ">XK5DMmEVQ^?*6k=x55RhP2auIUka^R9h*J)&^7m%2q>XTTRUs@t0&n3&n!o|cPAOt3*K%{~ZGb1Cb1)~F_2PyVHga&^DG%O"
    "RDAhb4=-vE_Qgz{nPd!XvpFu`Jv0UUo!K$efApECfz5S`T"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
