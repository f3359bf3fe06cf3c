"""Everything that touches PyBullet, which is imported here first, without its greeting.

Raises:
    MissingPyBulletError: It is not installed.
"""

import lazy_loader

from segtrack.errors import MissingPyBulletError
from segtrack.quiet import without_greetings

try:
    with without_greetings():
        import pybullet  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "pybullet":
        raise
    raise MissingPyBulletError from None

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
