"""Recordings of physical robots: read, mapped to quantities, put on one clock, replayed, compared, fitted.

Data flows one way, and each stage is a type:

| stage | in | out | where |
|---|---|---|---|
| read | a file | `Log`: channels as they are in the file | `reading` |
| map | `Log`, mapping file | `Motion`: quantities in segtrack's units, frames and signs | `mapping` |
| clocks | signals of two sources | offset and skew, with their uncertainty | `mapping` |
| check | `Motion`, vehicle, terrain | contradictions, and what would explain them | `mapping` |
| replay | `Motion`, vehicle, terrain | `Motion` as simulated | `replay` |
| fit | several `Motion` | parameters with their uncertainty, a vehicle file | `fit` |
| steady | a table of turns | yaw rates beside simulated ones | `fit` |
| compare | two `Motion` | errors beside their uncertainty, by phase | `compare` |
| climbs | a table of trials | outcomes beside simulated ones | `compare` |
"""

from segtrack.logs.log import Channel, Log
from segtrack.robot import QUANTITIES, Motion, Quantity, Signal, quantity_of

__all__ = ["QUANTITIES", "Channel", "Log", "Motion", "Quantity", "Signal", "quantity_of"]
