"""What a drive was simulated with: where it differs, a drive simulated again may differ in its last bits."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

FORMAT, FORMAT_VERSION = "segtrack drive", 1
PACKAGES = ("segtrack", "numpy", "scipy", "numba", "pybullet")
"""That simulate."""


@cache
def versions() -> dict[str, str]:
    """Versions of what simulates, by name, with Python, the system and the processor."""
    import llvmlite.binding  # Numba's compiler, which compiles for the processor that it finds.

    found = {name: version_of(name) for name in PACKAGES}
    system = f"{platform.system()} {platform.machine()}"
    processor = llvmlite.binding.get_host_cpu_name()
    return found | {"python": platform.python_version(), "system": system, "processor": processor}


def version_of(package: str) -> str:
    """Version of a package; `none` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
