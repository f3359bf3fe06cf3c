"""Real-time simulation of tracked robots: a plugin for PyBullet, and an engine of its own.

Names are imported when they are first asked for, so that the program's start can be interrupted.
"""

from importlib.util import find_spec as _find_spec

import lazy_loader as _lazy_loader

__version__ = "0.2.0"

if _find_spec("segtrack.urdf") is None:  # Beside this package in a checkout, inside it once installed.
    raise ImportError(
        "segtrack is imported from a checkout that is not installed, without its vehicles, environments and "
        "demos: run `pip install -e .` there, or start Python in another folder"
    )

__getattr__, _, __all__ = _lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
