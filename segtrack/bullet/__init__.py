"""Everything that touches PyBullet, which is imported here first, without its greeting.

Raises:
    MissingPyBulletError: It is not installed.
"""

from segtrack.errors import MissingPyBulletError
from segtrack.quiet import without_greetings

try:
    with without_greetings():
        import pybullet  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "pybullet":
        raise
    raise MissingPyBulletError from None
