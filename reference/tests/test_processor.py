"""What the processor can do."""

from __future__ import annotations

import platform

import pytest
from pylanceref.processor import INSTRUCTIONS, TIERS, simd_info


@pytest.mark.parametrize(
    ("machine", "tier", "arch"),
    [("aarch64", "neon", "aarch64"), ("arm64", "neon", "aarch64"), ("riscv64", "none", "riscv64")],
)
def test_other_architectures_list_nothing(monkeypatch, machine, tier, arch):
    """Only x86 says by name what there is."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert simd_info() == {"tier": tier, "target_arch": arch, "host_features": []}


@pytest.mark.parametrize(
    ("flags", "tier"),
    [
        ({"sse2", "avx"}, "avx"),
        ({"sse2", "avx", "fma"}, "avx_fma"),
        ({"sse2", "avx", "avx2"}, "avx"),
        ({"sse2", "avx", "fma", "avx2"}, "avx2"),
        ({"sse2", "fma", "avx", "avx2", "avx512f", "avx512bw", "avx512vl"}, "avx512"),
        (set(), "sse"),
    ],
)
def test_the_level_is_the_best_whose_instructions_are_there(monkeypatch, flags, tier):
    """A system that says nothing has what every such processor has."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr("pylanceref.processor._flags", lambda: flags)
    info = simd_info()
    assert (info["tier"], info["target_arch"]) == (tier, "x86_64")
    assert set(info["host_features"]) == flags & set(INSTRUCTIONS.values()) | {"sse2"}
    assert info["tier"] in TIERS


@pytest.mark.oracle
def test_pylance_says_the_same():
    """Level, architecture and instructions."""
    import lance

    assert simd_info() == lance.simd_info()
