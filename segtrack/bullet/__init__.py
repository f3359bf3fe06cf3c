"""Everything that touches PyBullet, which is imported here first, without its greeting."""

from segtrack.bullet.quiet import import_pybullet

import_pybullet()
