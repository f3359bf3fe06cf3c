"""Vehicles in users' hands: commands in, state out, whichever engine runs.

The life of a track, layer by layer:

| class | where | what |
|---|---|---|
| `TrackSpec` | description | the numbers of the vehicle file |
| `MountedTrack` | description | the track in its vehicle: full name, flipper, side |
| `TrackModel` | engine, bullet, native | the track in a running engine |
| `Track` | robot | the track in users' hands |
"""

from segtrack.robot.flipper import Flipper
from segtrack.robot.joint import Joint
from segtrack.robot.robot import Robot
from segtrack.robot.state import RobotState
from segtrack.robot.track import Track

__all__ = ["Flipper", "Joint", "Robot", "RobotState", "Track"]
