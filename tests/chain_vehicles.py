"""Vehicles on link chains that several tests build, and the chains of their tracks."""

from __future__ import annotations

from description.test_bad_input import changed

from segtrack.chain import TrackChain
from segtrack.description import VehicleDescription, parse_vehicle
from segtrack.robot import Robot

TEETH, SHOES = 13, 40
"""Of PackBot."""


def chain_of(robot: Robot, name: str = "left") -> TrackChain:
    """The chain of one of a robot's tracks."""
    return robot.model.tracks[list(robot.tracks).index(name)].belt.chain


def parsed(vehicle: str, *changes) -> VehicleDescription:
    """A bundled vehicle's file with changes."""
    return parse_vehicle(changed(vehicle, *changes), "own.yaml")


CHAIN = ("chain",)
