"""Run tests as if on other CPUs, one after the other: the results must be the same.

    python -m tests.golden.machines [pytest arguments]

OpenBLAS picks its kernels by the CPU, numpy its loops, and glibc its `exp` and `log`; each can be
told to take those of another one. A CPU that this one cannot stand for is left out, and said so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WHAT = ("tests/golden", "tests/docs/test_pages.py", "tests/contracts")


def flags() -> set[str]:
    """Return what this CPU can do, as Linux tells; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    found = next((line for line in lines if line.startswith(("flags", "Features"))), ":")
    return set(found.split(":", 1)[1].split())


def numpy_features() -> str:
    """Return the CPU features that numpy would use here beyond its baseline."""
    import numpy as np

    extra: list[str] = np._core._multiarray_umath.__cpu_dispatch__  # type: ignore[attr-defined]
    usable: dict[str, bool] = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return " ".join(name for name in extra if usable.get(name))


def kinds() -> dict[str, dict[str, str]]:
    """Return the environment that makes this machine stand for each kind of CPU."""
    has = flags()
    found = {"Prescott": {"OPENBLAS_CORETYPE": "Prescott"}}
    if "avx2" in has:
        found["Haswell"] = {"OPENBLAS_CORETYPE": "Haswell"}
    if "avx512f" in has:
        found["SkylakeX"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
    found["without vectors"] = {
        "NPY_DISABLE_CPU_FEATURES": numpy_features(),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX512F",
        "OPENBLAS_CORETYPE": "Nehalem",
    }
    return found


def main(arguments: list[str]) -> int:
    """Run pytest under each kind; return its worst exit code."""
    worst = 0
    chosen = kinds()
    for missing in {"Prescott", "Haswell", "SkylakeX"} - set(chosen):
        print(f"machines: {missing} is left out, as this CPU lacks its instructions", flush=True)
    for name, settings in chosen.items():
        print(f"machines: {name}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:logging", *arguments, *WHAT]
        worst = max(
            worst, subprocess.run(command, env=os.environ | settings, check=False).returncode
        )
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
