"""Friction while something changes: vehicles on level ground or a slope, under commands at random."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription
from segtrack.ground import LANES
from segtrack.ground import active_contacts as contacts
from segtrack.ground import face_contacts as faces

G = 9.81
WINDOW = 0.02
DRIVEN = [name for name in segtrack.bundled_vehicles() if name not in ("conveyor", "okada_example")]


def on_ground(
    vehicle: str | VehicleDescription,
    friction: float,
    step: float,
    *,
    engine: str = "native",
    track_model: str = "compliant",
    slope_deg: float = 0.0,
    sideways: bool = False,
    ground: Any = None,
) -> tuple[Any, Any]:
    """A world, and a vehicle at rest, gravity turned into a slope that rises ahead, or to its left."""
    description = segtrack.load_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    own = max(track.spec.contact.friction for track in description.mounted_tracks())
    world = segtrack.World(engine=engine, time_step=step)
    world.add_terrain(terrain.Plane(friction=friction / own) if ground is None else ground)
    robot = world.add_vehicle(description, track_model=track_model)
    world.run(0.4)
    angle = math.radians(slope_deg)
    along, down = -G * math.sin(angle), -G * math.cos(angle)
    world.set_gravity((0.0, along, down) if sideways else (along, 0.0, down))
    return world, robot


def rows_of_contacts(robot: Any) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the last step's contacts (n, `WIDTH`), their links and belts, -1 for none (n,), each."""
    held = robot.model._work.contacts
    lanes = held.used[0]
    blocks = held.blocks.reshape(-1, contacts.WIDTH, LANES)
    link, belt = held.parts.repeat(LANES, axis=0)[:lanes].T
    rows, of_faces = blocks.transpose(0, 2, 1).reshape(-1, contacts.WIDTH)[:lanes], _rows_of_faces(held)
    parts = (np.concatenate(pair) for pair in zip((rows, link, belt), of_faces, strict=True))
    return next(parts), next(parts), next(parts)


def _rows_of_faces(
    held: contacts.Contacts,
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the contacts with single faces, as of the others (n, `WIDTH`), their links and belts (n,)."""
    with_faces, rows, parts, block = held.with_faces, [np.zeros((0, contacts.WIDTH))], [], 0
    for face in range(with_faces.used[1]):
        numbers, (link, belt, end) = with_faces.faces[face], with_faces.parts[face].tolist()
        axes, square = numbers[:9].reshape(3, 3), numbers[faces.SQUARE]
        while block < end:
            own = with_faces.blocks[block].reshape(faces.BLOCK, LANES)[:, : with_faces.lanes[block]]
            own = own[:, own[faces.WEIGHT] > 0.0].T
            out = np.zeros((len(own), contacts.WIDTH))
            out[:, contacts.LEVER : contacts.LEVER + 3] = own[:, faces.PLACE : faces.PLACE + 3] @ axes
            out[:, contacts.ALONG_BELT : contacts.ALONG_BELT + 3] = (
                own[:, faces.ALONG : faces.ALONG + 3] @ axes
            )
            out[:, contacts.NORMAL : contacts.NORMAL + 3] = axes[2]
            if square != 1.0:
                out[:, contacts.ACROSS : contacts.ACROSS + 3], out[:, contacts.LESS] = axes[1], 1 - square
            out[:, contacts.HOLDING : contacts.HOLDING + 3] = (
                own[:, faces.HOLDING : faces.HOLDING + 2] @ axes[:2]
            )
            out[:, contacts.FORCE], out[:, contacts.LIMIT] = own[:, faces.FORCE], own[:, faces.LIMIT]
            out[:, contacts.ACTS], out[:, contacts.CUT] = own[:, faces.ACTS], own[:, faces.CUT]
            out[:, contacts.RESISTANCE] = own[:, faces.WEIGHT] * numbers[faces.RESISTANCE]
            out[:, contacts.GRIP] = own[:, faces.WEIGHT] * numbers[faces.GRIP]
            out[:, contacts.FRICTION] = numbers[faces.FRICTION]
            rows.append(out)
            parts += [(link, belt)] * len(own)
            block += 1
    of_parts = np.array(parts, dtype=np.intp).reshape(-1, 2)
    return np.concatenate(rows), of_parts[:, 0], of_parts[:, 1]


def momentum_of(robot: Any) -> NDArray[np.float64]:
    """Momentum in the world (3,) [kg m/s]."""
    bodies = robot.model.bodies()
    return np.asarray(bodies.masses @ bodies.velocities)


def top_speed(robot: Any) -> float:
    """Fastest belt speed that is commanded [m/s]."""
    return min(1.0, *(track.spec.drive.max_speed or 1.0 for track in robot.description.mounted_tracks()))


def command_at_random(robot: Any, draw: random.Random, top: float) -> None:
    """Other speeds of both sides, stop or full speed now and then; flippers that go elsewhere."""
    left, right = (draw.choice((draw.uniform(-top, top), 0.0, top, -top)) for _ in range(2))
    robot.set_belt_speed(left=left, right=right if draw.random() < 0.5 else left)
    if robot.flippers and draw.random() < 0.3:
        robot.set_flippers(**{name: draw.uniform(-0.6, 0.6) for name in robot.flippers})


def commanded_steps(robot: Any, step: float, seconds: float, seed: int) -> Iterator[None]:
    """Command a robot at random, each time for 1 to 50 ms; a step is to be taken at each item."""
    draw, top, left = random.Random(seed), top_speed(robot), 0
    for _ in range(round(seconds / step)):
        if left == 0:
            left = max(1, round(draw.uniform(0.001, 0.05) / step))
            command_at_random(robot, draw, top)
        left -= 1
        yield


def momenta_under_commands(
    world: Any, robot: Any, step: float, seconds: float, seed: int
) -> NDArray[np.float64]:
    """Momenta (n, 3) [kg m/s] at the ends of steps, under commands at random."""
    momenta = [momentum_of(robot)]
    for _ in commanded_steps(robot, step, seconds, seed):
        world.step()
        momenta.append(momentum_of(robot))
    return np.array(momenta)


def largest_excess(
    momenta: NDArray[np.float64], step: float, friction: float, weight: float, outside: Any = (0.0, 0.0, 0.0)
) -> float:
    """Most momentum along the ground beyond mu (M g dt + dPz) in any `WINDOW`, over mu M g dt [-].

    Args:
        momenta: Of what stands on the ground, before n steps and at their ends (n + 1, 3) [kg m/s].
        step: [s]
        friction: [-]
        weight: Of it [N].
        outside: Forces on it beside gravity and the ground (3,), or in each step (n, 3) [N].
    """
    count = round(WINDOW / step)
    forces = np.broadcast_to(np.asarray(outside), (len(momenta) - 1, 3))
    own = momenta - np.concatenate([np.zeros((1, 3)), np.cumsum(forces, axis=0)]) * step
    gained = own[count:] - own[:-count]
    allowed = friction * (weight * count * step + gained[:, 2])
    excess = np.hypot(gained[:, 0], gained[:, 1]) - allowed
    return float(excess.max() / (friction * weight * count * step))
