"""Contacts of a chain that are held for some sub-steps, beside those that are found in each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription
from segtrack.reproduce.chain_speed import chain_vehicle

pytestmark = pytest.mark.slow
"""The native engine's kernels for chains take half a minute to compile, once."""


class Ride(NamedTuple):
    """Means of a ride: height [m], tension [N], size of the drives' torque [N m], yaw rate [rad/s], speed."""

    height: float
    tension: float
    torque: float
    yaw_rate: float
    speed: float


def holding(name: str, sub_steps: int | None) -> VehicleDescription:
    """A vehicle whose contacts serve for so many sub-steps at most."""
    vehicle = segtrack.load_vehicle(name)
    update = {"sub_steps_held": sub_steps}
    tracks = {
        key: track
        if track.chain is None
        else track.model_copy(update={"chain": track.chain.model_copy(update=update)})
        for key, track in vehicle.tracks.items()
    }
    chain = vehicle.chain.model_copy(update=update)
    return vehicle.model_copy(update={"chain": chain, "tracks": tracks})


def ride(vehicle: VehicleDescription, left: float, right: float) -> Ride:
    """Let a vehicle drive on flat ground, and read it for a second."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain", flippers=dict.fromkeys(vehicle.flippers, 1.0))
        robot.set_belt_speed(left, right)
        world.run(0.8)
        start, heights, tensions, torques = robot.state, [], [], []
        for _ in range(200):
            world.run(0.005)
            readings = [track.read_chain() for track in robot.tracks.values()]
            heights.append(robot.state.position[2])
            tensions.append([reading.tension.mean() for reading in readings])
            torques.append([reading.drive_torque for reading in readings])
        turned = np.unwrap([start.yaw, robot.state.yaw])
        way = np.linalg.norm(np.subtract(robot.state.position, start.position))
    torque = float(np.abs(np.mean(torques, axis=0)).mean())
    return Ride(
        float(np.mean(heights)), float(np.mean(tensions)), torque, float(turned[1] - turned[0]), float(way)
    )


@pytest.mark.parametrize("name", ["packbot", "quince"])
@pytest.mark.parametrize("belts", [(0.3, 0.3), (-0.2, 0.2)])
def test_held_contacts_carry_pull_and_turn_as_those_found_anew(name: str, belts: tuple[float, float]) -> None:
    """Within 1 mm, 5 % and 2 %; they agree ten times as well. Straight on, the torque is nearly nothing."""
    found, held = (ride(holding(name, sub_steps), *belts) for sub_steps in (1, None))
    assert held.height == pytest.approx(found.height, abs=1e-4)
    assert held.tension == pytest.approx(found.tension, rel=5e-3)
    assert held.torque == pytest.approx(found.torque, rel=0.02, abs=0.05)
    assert held.yaw_rate == pytest.approx(found.yaw_rate, rel=2e-3, abs=1e-3)
    assert held.speed == pytest.approx(found.speed, abs=1e-3)


@pytest.mark.parametrize("belts", [(1.0, 1.0), (1.0, -1.0)])
def test_held_contacts_of_a_heavy_chain_are_as_those_found_anew(belts: tuple[float, float]) -> None:
    """An M113-like vehicle, within 1 mm, 5 % and 2 %; forces of the drives by their work over their way.

    Straight on they are 1.0 to 1.3 kN, 1 % of the weight, by how the chain came to run, held or not.
    """
    found, held = (heavy_ride(sub_steps, *belts) for sub_steps in (1, None))
    assert held.height == pytest.approx(found.height, abs=5e-4)
    assert held.tension == pytest.approx(found.tension, rel=0.05)
    assert held.torque == pytest.approx(found.torque, rel=0.02, abs=500.0)
    assert held.yaw_rate == pytest.approx(found.yaw_rate, rel=5e-3)


def heavy_ride(sub_steps: int | None, left: float, right: float) -> Ride:
    """Let the M113-like vehicle drive on flat ground, and read it for two seconds; forces for torques."""
    vehicle = chain_vehicle("m113_like")
    tracks = {}
    for name, track in vehicle.tracks.items():
        chain = track.chain.model_copy(update={"sub_steps_held": sub_steps})
        tracks[name] = track.model_copy(update={"chain": chain})
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle.model_copy(update={"tracks": tracks}), track_model="chain")
        world.run(0.5)
        robot.set_belt_speed(left, right)
        world.run(8.0)  # Until the chains have settled, too: on the spot it sinks by 1 mm within 2 to 6 s.
        before, state = robot.state, robot.model.state
        start, heights, tensions = (state.energies.copy(), state.travels.copy()), [], []
        for _ in range(100):
            world.run(0.02)
            heights.append(robot.state.position[2])
            tensions.append([track.read_chain().tension.mean() for track in robot.tracks.values()])
        forces = (state.energies - start[0]) / (state.travels - start[1])
        turned = np.unwrap([before.yaw, robot.state.yaw])
    rate = float(turned[1] - turned[0]) / 2.0
    return Ride(float(np.mean(heights)), float(np.mean(tensions)), float(np.mean(np.abs(forces))), rate, 0.0)


def test_what_a_call_holds_does_not_depend_on_calls() -> None:
    """Contacts are found anew at the beginning of every step, so that states need not remember them."""
    ends = []
    for chunks in (1, 20):
        with segtrack.World(engine="native") as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("packbot", track_model="chain")
            robot.set_belt_speed(0.2, 0.1)
            for _ in range(chunks):
                world.run(0.1 / chunks)
            ends.append(robot.tracks["left"].read_chain().positions)
    np.testing.assert_array_equal(*ends)
