"""D.damage.page-fullzip-size: a byte less than the values take."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muNWMXDvWn<^y<l^Sx<>MC+6cY9z0dPfgMG7${EBuE6MlG?l%!<^M_~Oi})cBmt;u5ROyb=p5BLhYY#volTrJTgP<W$|%y"
    "yX0p%)E4~;*z4$<dV{&#2mPo5PMo_PEJ*3fdChmrjR<9Dwn)ISeG75MX{c9eokp_o-0fT6BmP!8y6#k5TmdJmy(T;6_*8<EV"
    "?EmL%o2+^i-e3%KXw2A#o{D2>}f*11>ABC=L!LAr>ws4h|<q#`z2oPz<FVpmaQxhRF*tLTDu@%?QOzK<MM>=L`V-xlqm"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
