"""Compiled kernels: some functions of `codecs` once more, for numba (the extra `fast`)."""
