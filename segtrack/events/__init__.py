"""Events of NG-NRMM after Koerner 2024: obstacles, criteria, and the limits that stop a vehicle at them.

Koerner 2024 is "Influence of Track-Assembly Geometry on Mobility Over Rigid Terrain", a master's thesis at
Chalmers University of Technology; numbers of sections and tables are its.

A vehicle drives at an obstacle that begins at x = 0, passes it or is stuck, and the vertical acceleration at
its driver's place is taken every step.

| module | content |
|---|---|
| `obstacles` | half-rounds, step, gap, trapezoid barriers and ditches, ride courses |
| `assumptions` | settings that the paper leaves open, and its limits |
| `driver` | whatever commands the robot: a function of robot and time |
| `run`, `event_result` | one event, or two at the same instant: setup and result |
| `histories` | acceleration at the driver, absorbed power, low pass |
| `limits` | torque, hull, friction, wheels and arms, from the state |
| `search` | largest obstacle and limiting speed, upwards |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
