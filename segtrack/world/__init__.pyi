from .engines import attach as attach
from .engines import configure as configure
from .placement import SettleResult as SettleResult
from .placement import heading_quaternion as heading_quaternion
from .placement import height_of as height_of
from .placement import points_below as points_below
from .stepping import Snapshot as Snapshot
from .world import World as World
