"""Generated message modules of `protos/`; `python tools/protos.py` writes them."""
