"""A checkout as a package: the folders that an installation maps into `segtrack` lie beside it there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDERS = ("urdf", "envs", "demos")
_ROOT = Path(__file__).parent.parent


class _CheckoutFinder:
    """Finds `segtrack.urdf` and the like where they lie in a checkout."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of one of the folders, and nothing else."""
        package, _, folder = name.rpartition(".")
        if package != "segtrack" or folder not in FOLDERS:
            return None
        init = _ROOT / folder / "__init__.py"
        return spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])


def map_folders() -> None:
    """Make `segtrack.urdf`, `segtrack.envs` and `segtrack.demos` importable from a checkout.

    Python that was started there finds the checkout's `segtrack` before an installed one.
    """
    if (_ROOT / "pyproject.toml").is_file() and _CheckoutFinder not in sys.meta_path:
        sys.meta_path.insert(0, _CheckoutFinder)
