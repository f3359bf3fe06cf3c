"""Everything that touches PyBullet."""
