from .engines import attach as attach
from .engines import configure as configure
from .placement import BOX_SAMPLES as BOX_SAMPLES
from .placement import SettleResult as SettleResult
from .placement import heading_quaternion as heading_quaternion
from .placement import height_of as height_of
from .stepping import Snapshot as Snapshot
from .world import World as World
