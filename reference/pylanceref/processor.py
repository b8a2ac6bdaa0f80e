"""Processor: which vector instructions there are (face)."""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path

INSTRUCTIONS = {
    "sse2": "sse2",
    "sse3": "pni",
    "ssse3": "ssse3",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "popcnt": "popcnt",
    "avx": "avx",
    "avx2": "avx2",
    "fma": "fma",
    "f16c": "f16c",
    "bmi1": "bmi1",
    "bmi2": "bmi2",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512cd": "avx512cd",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
    "avx512fp16": "avx512_fp16",
}
"""Instructions that are named, and what Linux calls them."""

TIERS = {
    "avx512_fp16": {"avx512fp16"},
    "avx512": {"avx512f", "avx512bw", "avx512vl"},
    "avx2": {"avx2", "fma"},
    "avx_fma": {"avx", "fma"},
    "avx": {"avx"},
    "sse": {"sse2"},
}
"""Names of levels, the best first, and the instructions that each needs."""

X86, ARM = ("x86_64", "amd64"), ("aarch64", "arm64")
"""What systems call two architectures."""


def simd_info() -> dict[str, object]:
    """Return the level (`tier`), the architecture, and by name what the processor can do.

    Where the system does not say what an x86 processor can do, it is what all of them can.
    """
    machine = platform.machine().lower()
    if machine not in X86:
        is_arm = machine in ARM
        return {
            "tier": "neon" if is_arm else "none",
            "target_arch": "aarch64" if is_arm else machine,
            "host_features": [],
        }
    said = _flags()
    there = [name for name, flag in INSTRUCTIONS.items() if flag in said] or ["sse2"]
    tier = next(name for name, needs in TIERS.items() if needs <= set(there))
    return {"tier": tier, "target_arch": "x86_64", "host_features": there}


def _flags() -> set[str]:
    """Return what Linux says of the first processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("flags"):
                return set(line.partition(":")[2].split())
    return set()
