"""Link chains as polygons seen from the vehicle's right side. Pure geometry."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain.design import TrackDesign
from segtrack.chain.readings import ChainReading
from segtrack.description import VehicleDescription
from segtrack.experiments.chain_history import ChainHistory
from segtrack.ground.tread import Tread
from segtrack.report.side_view import Polygon, Role


def shoe_outlines(
    design: TrackDesign, reading: ChainReading
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """The plate of each shoe, and the grousers of those that have one, in (x, z) of the world (4, 2) [m]."""
    turns = Rotation.from_quat(reading.orientations).as_matrix()[:, [0, 2]][:, :, [0, 2]]
    plates, grousers = [], []
    for kind, turn, middle in zip(design.kinds, turns, reading.positions[:, [0, 2]], strict=True):
        tread = design.treads[kind]
        plates.append(_plate(tread) @ turn.T + middle)
        if tread.grouser is not None:
            grousers.append(_grouser(tread) @ turn.T + middle)
    return plates, grousers


def wheel_outlines(design: TrackDesign, reading: ChainReading) -> list[NDArray[np.float64]]:
    """Each wheel's circle on which the chain runs, a sprocket's pitch circle, in (x, z) of the world [m]."""
    turn = np.linspace(0, 2 * math.pi, 49)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    gear = design.running_gear
    radii = [min(radius for _, radius in wheel.profile) for wheel in gear.wheels]
    if gear.sprocket is not None:
        radii[gear.driven] = design.pitch_radius
    return [radius * circle + middle for radius, middle in zip(radii, reading.wheels[:, [0, 2]], strict=True)]


def chain_polygons(vehicle: VehicleDescription, history: ChainHistory, index: int) -> list[Polygon]:
    """Shoes and wheels of all chains at one sample, for `side_view`."""
    polygons = []
    for track in vehicle.mounted_tracks():
        design, reading = history.designs[track.name], history.readings[track.name][index]
        plates, grousers = shoe_outlines(design, reading)
        belt: Role = "belt" if track.flipper is None else "flipper belt"
        parts: tuple[tuple[Role, list[NDArray[np.float64]]], ...] = (
            ("wheel", wheel_outlines(design, reading)),
            (belt, plates),
            ("grouser", grousers),
        )
        polygons += [Polygon(role, points, track.y) for role, outlines in parts for points in outlines]
    return polygons


def _plate(tread: Tread) -> NDArray[np.float64]:
    ends, inner = (tread.x - tread.length / 2, tread.x + tread.length / 2), tread.outer - tread.thickness
    return np.array([(ends[0], inner), (ends[1], inner), (ends[1], tread.outer), (ends[0], tread.outer)])


def _grouser(tread: Tread) -> NDArray[np.float64]:
    bar = tread.grouser
    assert bar is not None
    x, tip = tread.x + bar.x, tread.outer + bar.height
    return np.array(
        [
            (x - bar.base / 2, tread.outer),
            (x + bar.base / 2, tread.outer),
            (x + bar.top / 2, tip),
            (x - bar.top / 2, tip),
        ]
    )
