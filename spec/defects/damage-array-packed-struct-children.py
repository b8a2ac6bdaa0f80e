"""D.damage.array-packed-struct-children: two widths for three fields."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-n=K%Syvg5Qb-xwuZq)7`z0*S_&ctZ7YJ7Y)mPFh*arX2;n4^U`!+zQCD>%_+q|RJhmsgaN*CK`IyVkz(D|*pULFPa964dm"
    "YU0OtBZd{Z%C(%qEppEyOkGNDT)D3w`o206A>PUiAaMexpN+UaUTZUkQ*VHjJ}0-GfIl1lK~Eqx{ObjW^c}-=P>Z{=r#1>C@"
    "-8@oce`xyx5U0Vd-|Wl(yk_$JA(__h^@P`ipD5`dZ!_r*Zj^oU58O0=^{##<rz(r+h;bYX32fvdn+^@f=**w8}&VwWwj33}o"
    ">Jtr2gThR(l}4g<rd`o0fESMgo3o?qjVo+7FTpu^Q@GX4Vl6j_k"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
