"""A checkout as a package: the folders that an installation maps into `segtrack` lie beside it there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

FOLDERS = ("urdf", "demos")


def map_folders() -> None:
    """Make `segtrack.urdf` and `segtrack.demos` importable where Python was started in a checkout.

    Python then finds the checkout's `segtrack` before an installed one.
    """
    root = Path(__file__).parent.parent
    if not (root / "pyproject.toml").is_file():
        return
    for folder in FOLDERS:
        name, init = f"segtrack.{folder}", root / folder / "__init__.py"
        if name in sys.modules or not init.is_file():
            continue
        spec = importlib.util.spec_from_file_location(
            name, init, submodule_search_locations=[str(init.parent)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
