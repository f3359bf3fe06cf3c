"""A simulated world: terrain and robots, the clock, and the engine behind them.

| module | what |
|---|---|
| `world` | what users hold |
| `engines` | which engine runs which track model; the only place that imports one |
| `placement` | how high a robot stands |
| `pacing` | simulated time against the wall clock |
| `settling` | robots brought to rest where they stand |
| `snapshots` | which saved states are still good |
"""

from segtrack.settling import SettleResult
from segtrack.world.engines import TRACK_MODELS, attach, configure, resolve
from segtrack.world.snapshots import Snapshot
from segtrack.world.world import World

__all__ = ["TRACK_MODELS", "SettleResult", "Snapshot", "World", "attach", "configure", "resolve"]
