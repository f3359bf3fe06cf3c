"""A simulated world: terrain and robots, the clock, and the engine behind them.

| module | what |
|---|---|
| `world` | what users hold |
| `engines` | engines opened by name; the only module that imports them |
| `placement` | heights at which robots stand, and robots brought to rest there |
| `stepping` | simulated time against the wall clock; saved states that are still good |
"""

from segtrack.engine.track_models import resolve
from segtrack.world.engines import attach, configure
from segtrack.world.placement import SettleResult
from segtrack.world.stepping import Snapshot
from segtrack.world.world import World

__all__ = ["SettleResult", "Snapshot", "World", "attach", "configure", "resolve"]
