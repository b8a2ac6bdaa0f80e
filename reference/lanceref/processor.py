"""Processor: which vector instructions there are (face)."""

from __future__ import annotations

import platform
import sys

import numpy as np

TIERS = {
    "avx512_fp16": ("AVX512FP16",),
    "avx512": ("AVX512F", "AVX512BW", "AVX512VL"),
    "avx2": ("AVX2", "FMA3"),
    "avx_fma": ("AVX", "FMA3"),
    "avx": ("AVX",),
    "sse": ("SSE2",),
    "neon": ("NEON",),
}
"""Names of levels, the best first, and the instructions that each needs."""

NAMES = {"FMA3": "fma", "SSE41": "sse4.1", "SSE42": "sse4.2", "F16C": "f16c"}
"""Names of instructions where they are not those of NumPy in small letters."""


def simd_info() -> dict[str, object]:
    """Return the level (`tier`), the architecture, and by name what the processor can do."""
    known: dict[str, bool] = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    there = {name for name, has in known.items() if has}
    tier = next((name for name, needs in TIERS.items() if there.issuperset(needs)), "none")
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    host = sorted(NAMES.get(name, name.lower()) for name in there) if is_x86 else []
    return {
        "tier": tier,
        "target_arch": "x86_64" if is_x86 else platform.machine().lower() or sys.platform,
        "host_features": host,
    }
