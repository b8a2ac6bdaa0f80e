"""D.damage.array-ends-bound: a first list that ends after the last item."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-pIHfB<$V%><=cptJ`8zz9_bquEH*&+S1OU<A9EnSosWT&`RaLX61@|6zbpizO$sxWs_bf{{x|h$XWmHCF;zOcW}{q`;`fn"
    "weK(Xa*7%VByjfQs+|TlGo2k%u7zyOU+BpPsz+nFV=I;&neB#bA|GSn79~(T(}q+gcubhSd^@UEV#_L<S;Zj78NB{!u5zK33"
    "2fVadB~Qv2n3*I0!Kauu70>p#xnl^x|S^U_8Jm#Kgz}wA4n(ipzqarD8%NLPB5*8HE^xfL3z|2r+RmdP0*{Av8tpLgQ;glWa"
    "KyYEtxsa$))xLDgMiLMUSfvzQrt9Q~XDZMmV*"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
